/**
 * Runs several test files in this one process: starting node and tap costs more than most files of pure decisions do.
 * The files are loaded within the first test, so that tap does not take the end of one file for the end of all.
 */
import { pathToFileURL } from 'node:url';
import t from 'tap';

t.test('every file loads', async () => {
  for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href);
});
