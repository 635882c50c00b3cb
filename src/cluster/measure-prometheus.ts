/** The load by a Prometheus: how much there is to do and how long it takes. Who is there, the heartbeats tell. */
import type { Measured } from '../actors/autoscaler/ports.ts';
import { Failure } from '../domain/failure.ts';
import { createPrometheusSource } from '../http/prometheus.ts';
import { listBeats } from '../nats/beats.ts';
import { loadByNumbers } from '../policy/autoscale/load.ts';
import { describeWorker, isWorker } from '../policy/cluster-snapshot.ts';
import type { ActorParts } from './roles.ts';

export function openPrometheus({ config, bucket, log }: ActorParts): {
  measure(): Promise<Measured>;
  close(): Promise<void>;
} {
  const { prometheusUrl = '', prometheusLoad, prometheusDuration } = config.autoscale;
  const prometheus = createPrometheusSource(prometheusUrl);
  return {
    async measure() {
      const [tasks, seconds, beats] = await Promise.all([
        prometheus.query(prometheusLoad),
        prometheus.query(prometheusDuration),
        listBeats(bucket, log),
      ]);
      if (tasks === undefined)
        throw new Failure('INVALID', `the Prometheus has no number for: ${prometheusLoad}`, {
          hint: 'autoscale.prometheusLoad is the question.',
        });
      const workers = beats.filter(isWorker).map((beat) => describeWorker(beat, undefined));
      const taskMs = seconds === undefined ? undefined : seconds * 1_000;
      return { load: loadByNumbers({ at: Date.now(), tasks, taskMs, workers }), workers };
    },
    close: () => prometheus.close(),
  };
}
