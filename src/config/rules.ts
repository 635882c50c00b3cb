/** What settings demand of each other. */
import type { Config, FieldPath } from './fields.ts';
import { readTaskLeaseMs } from './task-lease.ts';

interface Rule {
  /** A rule is asked only when all of these are right in themselves. */
  readonly about: readonly FieldPath[];
  /** `name` tells a setting together with where it was set. */
  check(config: Config, name: (path: FieldPath) => string): string | undefined;
}

const SIGN_IN = ['user', 'password', 'token', 'creds', 'nkey'] as const;

export const rules: readonly Rule[] = [
  {
    about: ['heartbeat.interval', 'heartbeat.deadAfter'],
    check: ({ heartbeat }, name) =>
      heartbeat.deadAfter >= 2 * heartbeat.interval
        ? undefined
        : `${name('heartbeat.deadAfter')} is ${heartbeat.deadAfter} ms, but must be at least twice ${name('heartbeat.interval')}, which is ${heartbeat.interval} ms`,
  },
  {
    about: ['heartbeat.interval'],
    check({ heartbeat }, name) {
      // A worker that has not been heard of for nearly a lease takes its tasks for lost: one late beat must not do that.
      const leaseMs = readTaskLeaseMs();
      return leaseMs >= 2 * heartbeat.interval
        ? undefined
        : `${name('heartbeat.interval')} is ${heartbeat.interval} ms, but must be at most half the lease of a task, which is ${leaseMs} ms (ack_wait in nats/consumers/TASKS)`;
    },
  },
  {
    about: ['nats.tlsCert', 'nats.tlsKey'],
    check({ nats }, name) {
      if ((nats.tlsCert === undefined) === (nats.tlsKey === undefined)) return undefined;
      return nats.tlsKey === undefined
        ? `${name('nats.tlsCert')} needs nats.tlsKey as well`
        : `${name('nats.tlsKey')} needs nats.tlsCert as well`;
    },
  },
  {
    about: ['nats.user', 'nats.password'],
    check: ({ nats }, name) =>
      nats.password === undefined || nats.user !== undefined
        ? undefined
        : `${name('nats.password')} needs nats.user as well`,
  },
  {
    about: SIGN_IN.map((key) => `nats.${key}` as const),
    check({ nats }, name) {
      const ways = [nats.user ?? nats.password, nats.token, nats.creds, nats.nkey];
      if (ways.filter((way) => way !== undefined).length <= 1) return undefined;
      const set = SIGN_IN.filter((key) => nats[key] !== undefined).map((key) => name(`nats.${key}`));
      return `${set.join(', ')}: only one way to sign in to NATS may be set`;
    },
  },
  {
    about: ['autoscale.min', 'autoscale.max'],
    check: ({ autoscale: { min, max } }, name) =>
      min <= max
        ? undefined
        : `${name('autoscale.min')} is ${min}, but must not be more than ${name('autoscale.max')}, which is ${max}`,
  },
  {
    about: ['autoscale.jobsDown', 'autoscale.jobsUp'],
    check: ({ autoscale: { jobsDown, jobsUp } }, name) =>
      jobsDown < jobsUp
        ? undefined
        : `${name('autoscale.jobsDown')} is ${jobsDown}, but must be less than ${name('autoscale.jobsUp')}, which is ${jobsUp}`,
  },
  {
    about: ['autoscale.driver', 'autoscale.command', 'autoscale.target'],
    check({ autoscale: { driver, command, target } }, name) {
      if (driver === 'command' && command === undefined)
        return `${name('autoscale.driver')} is command: it needs autoscale.command as well`;
      const isPlatform = driver === 'kubernetes' || driver === 'swarm';
      return isPlatform && target === undefined
        ? `${name('autoscale.driver')} is ${driver}: it needs autoscale.target as well`
        : undefined;
    },
  },
  {
    about: ['autoscale.source', 'autoscale.prometheusUrl'],
    check: ({ autoscale: { source, prometheusUrl } }, name) =>
      source !== 'prometheus' || prometheusUrl !== undefined
        ? undefined
        : `${name('autoscale.source')} is prometheus: it needs autoscale.prometheusUrl as well`,
  },
];
