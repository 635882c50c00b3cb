/** Where systems put Chromium, and the browsers made of it. */
import { access, constants } from 'node:fs/promises';
import { Failure } from '../domain/failure.ts';

export const USUAL_PLACES: readonly string[] = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const HINT = 'Install Chromium (Debian: apt install chromium), or set browser.path to where it is.';

/** The given one, or the first that is there. */
export async function findChromium(
  given: string | undefined,
  places: readonly string[] = USUAL_PLACES,
): Promise<string> {
  for (const place of given === undefined ? places : [given]) {
    const found = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return place;
  }
  const what = given === undefined ? 'there is no Chromium on this machine' : `there is no program ${given}`;
  throw new Failure('INTERNAL', what, { hint: HINT });
}
