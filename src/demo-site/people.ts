/** The members of the demo site: profiles, who follows whom, and whether somebody has a story now. */
import { seeded } from './seeded.ts';

export interface Profile {
  readonly id: string;
  readonly username: string;
  readonly full_name: string;
  readonly bio: string;
  readonly followers: number;
  readonly following: number;
  readonly verified: boolean;
  readonly joined: string; // YYYY-MM-DD
}

export interface Story {
  readonly id: string;
  readonly kind: 'image' | 'video';
  readonly seconds: number;
}

const FIRST = ['Ada', 'Björn', 'Chloé', 'Dmitri', 'Emeka', 'Fatima', 'Goro', 'Inés'] as const;
const LAST = ['Lovelace', 'Ek', 'Dupont', 'Ivanov', 'Okafor', 'Haddad', 'Sato', 'García'] as const;

/** Any name is somebody, except those that begin with `missing`. */
export function findProfile(seed: number, id: string): Profile | undefined {
  if (!/^[\w.-]{1,64}$/.test(id) || id.startsWith('missing')) return undefined;
  const random = seeded(seed, 'profile', id);
  return {
    id,
    username: /^\d+$/.test(id) ? `user_${id}` : id,
    full_name: `${random.pick(FIRST)} ${random.pick(LAST)}`,
    bio: random.pick(['Tea, maps & trains', 'She said “why not?”', 'just here to read', '', '🚲 + ☕']),
    followers: random.int(0, 1200),
    following: random.int(0, 500),
    verified: random.chance(0.1),
    joined: new Date(Date.UTC(2012, 0, 1 + random.int(0, 4500))).toISOString().slice(0, 10),
  };
}

export function listFollowers(
  seed: number,
  profile: Profile,
  { offset, limit }: { offset: number; limit: number },
): { readonly id: string; readonly username: string }[] {
  const found = [];
  for (let index = offset; index < Math.min(offset + limit, profile.followers); index += 1) {
    // The index is part of the id, so that nobody follows the same person twice.
    const id = String(index * 1000 + seeded(seed, 'follower', profile.id, index).int(0, 999));
    found.push({ id, username: `user_${id}` });
  }
  return found;
}

/** About a third of the people have stories. */
export function listStories(seed: number, { id }: Profile): Story[] {
  const random = seeded(seed, 'stories', id);
  if (!random.chance(0.33)) return [];
  return Array.from({ length: random.int(1, 5) }, (_, index) => ({
    id: `${id}-${index + 1}`,
    kind: random.pick(['image', 'video']),
    seconds: random.int(3, 60),
  }));
}
