/** What the publisher needs to know of a stream's definition. */
import { JetStreamApiError } from '@nats-io/jetstream';
import { Failure, messageOf } from '../../domain/failure.ts';
import type { Connection } from '../connect.ts';
import { REFUSED_NO_STREAM } from './answer.ts';

export interface StreamTraits {
  /** The stream takes atomic batches. */
  readonly atomic: boolean;
  /** The stream drops messages by itself once they are consumed. */
  readonly mayVanish: boolean;
}

export async function readStreamTraits({ jsm }: Connection, stream: string): Promise<StreamTraits> {
  try {
    const { config } = await jsm.streams.info(stream);
    return { atomic: config.allow_atomic === true, mayVanish: config.retention !== 'limits' };
  } catch (cause) {
    if (cause instanceof JetStreamApiError && cause.code === REFUSED_NO_STREAM) {
      throw new Failure('INVALID', `there is no stream ${stream}`, {
        cause,
        hint: 'Create the streams with `trawl up`, or from the definitions in nats/streams.',
      });
    }
    throw new Failure('UNAVAILABLE', `cannot read the stream ${stream}: ${messageOf(cause)}`, { cause });
  }
}
