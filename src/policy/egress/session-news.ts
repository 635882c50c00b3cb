/** What a worker tells of a session. */
import { Secret } from '../../domain/secret.ts';
import type { SessionNews } from '../../wire/egress.ts';
import { changeState, isUsable } from './sessions.ts';
import type { State } from './state.ts';

/** Only its holder knows, or whoever held it last; others speak of a session that has moved on. */
export function noteSessionNews(state: State, worker: string, news: SessionNews, now: number): void {
  const identity = state.sessions.get(news.id);
  if (!identity || (identity.worker !== undefined && identity.worker !== worker)) return;
  if (news.cookies !== undefined) identity.cookies = new Secret(news.cookies);
  if (news.headers !== undefined) identity.headers = news.headers;
  if (news.userAgent !== undefined) identity.userAgent = news.userAgent;
  if (news.validUntil !== undefined) identity.validUntil = news.validUntil;
  state.journal.sessions.add(identity);
  if (!isUsable(identity)) return;
  const { sessionErrorsMax } = state.limits;
  switch (news.verdict) {
    case 'ok':
      identity.errors = 0;
      changeState(state, identity, 'valid', 'in use', now);
      return;
    case 'error':
      identity.errors += 1;
      if (sessionErrorsMax > 0 && identity.errors >= sessionErrorsMax)
        changeState(state, identity, 'retired', `${identity.errors} errors`, now);
      return;
    case 'invalid':
      changeState(state, identity, 'invalid', 'found invalid', now);
      return;
    case 'retire':
      changeState(state, identity, 'retired', 'retired by its scraper', now);
  }
}
