/** Asks for many people at once and waits for all of them: node config/examples/people/wait-for-all.mjs ada goro missing-person */
import { connectTrawl } from 'trawl';

const usernames = process.argv.slice(2);
const trawl = await connectTrawl({ home: process.env['TRAWL_HOME'] ?? '.trawl' });
try {
  const { run } = await trawl.run(
    'scrape_profile',
    usernames.map((username) => ({ key: username, input: { username } })),
  );
  // Those who are not there come too, with their error: nobody is waited for in vain.
  for await (const { key, items, error } of trawl.results(run, { timeoutMs: 600_000 }))
    console.log(key, error ? `${error.code}: ${error.message}` : `${items[0].data.followers} followers`);
  const { state, counts } = await trawl.waitFor(run);
  console.log(`${run}: ${state}, ${counts.done} done, ${counts.dead} dead`);
} finally {
  await trawl.close();
}
