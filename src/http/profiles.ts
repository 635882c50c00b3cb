/**
 * What browsers send when somebody opens a page, in their order and spelling. The parts of a profile belong together:
 * a site that compares the user agent with the other headers sees one browser.
 */
import { ACCEPT_ENCODING } from './decode-body.ts';

type Headers = readonly (readonly [string, string])[];

export interface HeaderProfile {
  readonly name: string;
  readonly userAgent: string;
  /** An empty value keeps a place, for a header that a request may bring along. */
  readonly headers: Headers;
}

/** Sent over https only. */
const SECURE_ONLY = /^sec-/i;
const PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9';
const CHROMIUM_PAGE = `${PAGE},image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7`;

export const PROFILES: readonly HeaderProfile[] = [
  chromium('chrome-windows', {
    system: 'Windows NT 10.0; Win64; x64',
    platform: 'Windows',
    brands: '"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"',
    suffix: '',
  }),
  chromium('chrome-mac', {
    system: 'Macintosh; Intel Mac OS X 10_15_7',
    platform: 'macOS',
    brands: '"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"',
    suffix: '',
  }),
  chromium('edge-windows', {
    system: 'Windows NT 10.0; Win64; x64',
    platform: 'Windows',
    brands: '"Chromium";v="140", "Not=A?Brand";v="24", "Microsoft Edge";v="140"',
    suffix: ' Edg/140.0.0.0',
  }),
  firefox('firefox-windows', 'Windows NT 10.0; Win64; x64'),
  firefox('firefox-linux', 'X11; Linux x86_64'),
  safari('safari-mac'),
];

const BY_NAME = new Map(PROFILES.map((profile) => [profile.name, profile]));

export function findProfile(name: string): HeaderProfile | undefined {
  return BY_NAME.get(name);
}

/** The profile's headers for one URL. Own headers replace those of the same name in their place; others come last. */
export function profileHeaders(profile: HeaderProfile, url: URL, own: Headers = []): [string, string][] {
  const left = new Map(own.map((header) => [header[0].toLowerCase(), header]));
  const headers: [string, string][] = [];
  for (const [name, value] of profile.headers) {
    const lower = name.toLowerCase();
    const mine = left.get(lower);
    left.delete(lower);
    if (mine) headers.push([name, mine[1]]);
    else if (value !== '' && (url.protocol === 'https:' || !SECURE_ONLY.test(name)))
      headers.push([name, value]);
  }
  for (const [name, value] of left.values()) headers.push([name, value]);
  return headers;
}

interface ChromiumParts {
  readonly system: string;
  readonly platform: string;
  readonly brands: string;
  readonly suffix: string;
}

function chromium(name: string, { system, platform, brands, suffix }: ChromiumParts): HeaderProfile {
  const engine = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  const userAgent = `Mozilla/5.0 (${system}) ${engine}${suffix}`;
  return {
    name,
    userAgent,
    headers: [
      ['sec-ch-ua', brands],
      ['sec-ch-ua-mobile', '?0'],
      ['sec-ch-ua-platform', `"${platform}"`],
      ['Upgrade-Insecure-Requests', '1'],
      ['User-Agent', userAgent],
      ['Accept', CHROMIUM_PAGE],
      ['Sec-Fetch-Site', 'none'],
      ['Sec-Fetch-Mode', 'navigate'],
      ['Sec-Fetch-User', '?1'],
      ['Sec-Fetch-Dest', 'document'],
      ['Referer', ''],
      ['Accept-Encoding', ACCEPT_ENCODING],
      ['Accept-Language', 'en-US,en;q=0.9'],
      ['Cookie', ''],
    ],
  };
}

function firefox(name: string, system: string): HeaderProfile {
  const userAgent = `Mozilla/5.0 (${system}; rv:143.0) Gecko/20100101 Firefox/143.0`;
  return {
    name,
    userAgent,
    headers: [
      ['User-Agent', userAgent],
      ['Accept', `${PAGE},*/*;q=0.8`],
      ['Accept-Language', 'en-US,en;q=0.5'],
      ['Accept-Encoding', ACCEPT_ENCODING],
      ['Referer', ''],
      ['Cookie', ''],
      ['Upgrade-Insecure-Requests', '1'],
      ['Sec-Fetch-Dest', 'document'],
      ['Sec-Fetch-Mode', 'navigate'],
      ['Sec-Fetch-Site', 'none'],
      ['Sec-Fetch-User', '?1'],
      ['Priority', 'u=0, i'],
    ],
  };
}

function safari(name: string): HeaderProfile {
  const engine = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15';
  const userAgent = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${engine}`;
  return {
    name,
    userAgent,
    headers: [
      ['Sec-Fetch-Dest', 'document'],
      ['User-Agent', userAgent],
      ['Accept', `${PAGE},*/*;q=0.8`],
      ['Sec-Fetch-Site', 'none'],
      ['Sec-Fetch-Mode', 'navigate'],
      ['Accept-Language', 'en-US,en;q=0.9'],
      ['Priority', 'u=0, i'],
      // Safari knows no zstd.
      ['Accept-Encoding', 'gzip, deflate, br'],
      ['Referer', ''],
      ['Cookie', ''],
    ],
  };
}
