/**
 * Where the proxy-manager that leads is asked. Workers ask on `trawl.egress.acquire` and `.report` (msgpack); people and
 * programs on `trawl.ctl.proxies.*`, `hosts.*` and `sessions.*` (JSON), e.g. `nats req trawl.ctl.proxies.ls ''`.
 * It is open while one leads: whoever asks while nobody does learns at once that there are no responders.
 */
import { headers as createHeaders, type Msg } from '@nats-io/nats-core';
import { Svcm, type ServiceMsg } from '@nats-io/services';
import { asFailure } from '../domain/failure.ts';
import { decode, encode, encodeJson } from '../wire/codec.ts';
import { decodeAcquire, decodeReport } from '../wire/egress-codec.ts';
import type { AcquireReply, AcquireRequest, EgressReport, ReportReply } from '../wire/egress.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import type { Verb } from './mailbox.ts';

export interface EgressDeskOptions {
  readonly names: Names;
  readonly version: string;
  acquire(request: AcquireRequest): Promise<AcquireReply>;
  report(report: EgressReport): Promise<ReportReply>;
  /** How much there is of everything, for whoever tells of the whole cluster. */
  gauges(): object;
  readonly verbs: Readonly<Record<string, Verb>>;
}

const STATUS = 400;

/** Opens the desk and returns its undo. */
export async function openEgressDesk(
  connection: Connection,
  options: EgressDeskOptions,
): Promise<() => Promise<void>> {
  const { nc } = connection;
  const { names, version, verbs } = options;
  const questions = [
    listen(names.egress('acquire'), async (data) => options.acquire(decodeAcquire(data))),
    listen(names.egress('report'), async (data) => options.report(decodeReport(data))),
    listen(names.egress('gauges'), async () => options.gauges()),
  ];
  const service = await new Svcm(nc).add({
    name: `${names.namespace}-egress`,
    version,
    description: 'What the proxy-manager that leads answers',
    // There is one at a time; should two believe it, the fence decides, not a queue.
    queue: '',
  });
  for (const [verb, act] of Object.entries(verbs)) {
    service.addEndpoint(verb.replaceAll('.', '-'), {
      subject: names.service(verb),
      handler: (error, message) => {
        if (!error) void answer(message, act);
      },
    });
  }
  return async () => {
    if (nc.isClosed()) return;
    for (const subscription of questions) subscription.unsubscribe();
    await service.stop();
  };

  function listen(subject: string, act: (data: Uint8Array) => Promise<unknown>): { unsubscribe(): void } {
    return nc.subscribe(subject, {
      callback: (error, message) => {
        if (!error) void respond(message, act);
      },
    });
  }
}

async function respond(message: Msg, act: (data: Uint8Array) => Promise<unknown>): Promise<void> {
  try {
    message.respond(encode(await act(message.data)));
  } catch (error) {
    const { code, message: reason } = asFailure(error);
    const set = createHeaders();
    set.set('Nats-Service-Error-Code', String(STATUS));
    set.set('Nats-Service-Error', reason.replace(/[\r\n]+/g, ' '));
    message.respond(encodeJson({ error: { code, message: reason } }), { headers: set });
  }
}

async function answer(message: ServiceMsg, act: Verb): Promise<void> {
  try {
    message.respond(encodeJson(await act(message.data.length === 0 ? undefined : decode(message.data))));
  } catch (error) {
    const { code, message: reason, hint } = asFailure(error);
    // The error goes into the body as well: the CLI prints the body and ignores the error headers.
    message.respondError(STATUS, reason, encodeJson({ error: { code, message: reason, hint } }));
  }
}
