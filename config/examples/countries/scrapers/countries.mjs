/**
 * One scraper per country. None of them says where it runs: the registry does (registry.yaml), so that a country moves from
 * one machine to the cluster, or back, without a change of its code.
 */
import { defineScraper } from 'trawl';

const COUNTRIES = ['india', 'malaysia', 'netherlands', 'taiwan', 'argentina', 'canada_quebec', 'russia'];

const createCountry = (name) =>
  defineScraper({
    name,
    timeout: '5m',
    retries: 3,
    async run({ url, json, emit }) {
      const { id, name: product, brand, cents } = await json(url);
      emit({ country: name, id, product, brand, price: cents / 100 });
    },
  });

export const scrapers = COUNTRIES.map(createCountry);
