/** Header profiles by name, and the plain one that says who we are. */
import { Failure } from '../domain/failure.ts';
import { ACCEPT_ENCODING } from '../http/decode-body.ts';
import { findProfile, profileHeaders, PROFILES, type HeaderProfile } from '../http/profiles.ts';

export type HeaderList = readonly (readonly [string, string])[];

export interface Profiles {
  userAgentOf(profile: string): string;
  /** In the profile's order; `own` headers stand in for those of the same name, and the last of a name wins. */
  headers(profile: string, url: URL, own: HeaderList): HeaderList;
}

export const PLAIN = 'plain';

export function createProfiles(userAgent: string): Profiles {
  const plain: HeaderProfile = {
    name: PLAIN,
    userAgent,
    headers: [
      ['User-Agent', userAgent],
      ['Accept', '*/*'],
      ['Accept-Encoding', ACCEPT_ENCODING],
    ],
  };
  return {
    userAgentOf: (name) => find(name).userAgent,
    headers(name, url, own) {
      if (name === PLAIN && own.length === 0) return plain.headers;
      return profileHeaders(find(name), url, own);
    },
  };

  function find(name: string): HeaderProfile {
    const profile = name === PLAIN ? plain : findProfile(name);
    if (profile) return profile;
    throw new Failure('INVALID', `there is no header profile ${JSON.stringify(name)}`, {
      hint: `There are: ${[PLAIN, ...PROFILES.map((each) => each.name)].join(', ')}.`,
    });
  }
}
