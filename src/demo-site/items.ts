/** The market of the demo site's API: items of a few games, read page by page with an opaque cursor. */
import { seeded } from './seeded.ts';

export interface Item {
  readonly itemId: string;
  readonly title: string;
  readonly gameId: string;
  readonly price: { readonly USD: string }; // cents, as text; empty where the market does not know it
  readonly quality: string;
  readonly createdAt: number; // epoch s
}

/** How many items each game has; the last three under the ids that a market gives them. */
export const GAMES: Readonly<Record<string, number>> = {
  ...{ cs: 1250, dota: 730, rust: 300 },
  ...{ a8db: 1250, '9a92': 730, '730': 300 },
};

/** Three of a hundred items of this one have no price: what is wrong with a few must not stop the others. */
const CARELESS_GAME = '730';
const CARELESS = [16, 41, 76];

const TITLES = ['Redline', 'Asiimov', 'Dragonclaw', 'Sandstorm', 'Vulcan', 'Neon Rider'] as const;
const QUALITIES = ['factory new', 'minimal wear', 'field-tested', 'well-worn'] as const;

export interface ItemPage {
  readonly objects: readonly Item[];
  readonly total: number;
  /** Of the next page; empty after the last. */
  readonly cursor: string;
}

/** Undefined when the game does not exist or the cursor is none of ours. */
export function listItems(
  seed: number,
  { game, cursor, limit }: { game: string; cursor: string; limit: number },
): ItemPage | undefined {
  const total = Object.hasOwn(GAMES, game) ? GAMES[game] : undefined;
  const offset = cursor === '' ? 0 : readCursor(cursor, game);
  if (total === undefined || offset === undefined || offset > total) return undefined;
  const end = Math.min(offset + limit, total);
  const objects = [];
  for (let index = offset; index < end; index += 1) objects.push(makeItem(seed, game, index));
  return { objects, total, cursor: end < total ? writeCursor(game, end) : '' };
}

function makeItem(seed: number, gameId: string, index: number): Item {
  const random = seeded(seed, 'item', gameId, index);
  return {
    itemId: `${gameId}-${index + 1}`,
    title: `${random.pick(TITLES)} #${index + 1}`,
    gameId,
    price: { USD: isCareless(gameId, index) ? '' : String(random.int(3, 90_000)) },
    quality: random.pick(QUALITIES),
    createdAt: 1_750_000_000 + random.int(0, 30_000_000),
  };
}

function isCareless(gameId: string, index: number): boolean {
  return gameId === CARELESS_GAME && CARELESS.includes(index % 100);
}

function writeCursor(game: string, offset: number): string {
  return Buffer.from(`${game}:${offset}`).toString('base64url');
}

function readCursor(cursor: string, game: string): number | undefined {
  const found = /^(\w+):(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  return found?.[1] === game ? Number(found[2]) : undefined;
}
