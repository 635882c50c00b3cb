/** The metrics of the whole cluster, each spelled once. Rates and ratios are left to Prometheus. */
import type { ClusterFacts } from '../domain/cluster-facts.ts';
import { ROLES } from '../domain/role.ts';
import { ANSWER_CLASSES, DEFER_REASONS, PAGE_OUTCOMES, RETRY_CODES, type HostSums } from '../domain/tally.ts';
import { byLabel, counter, durations, gauge, named } from './families.ts';
import type { DurationFamily, Family, Line } from './exposition.ts';

/** What the autoscaler may do. */
const ACTIONS = ['up', 'down', 'hold', 'repair'];

export type ClusterFamily = Family | DurationFamily;

export function describeCluster(facts: ClusterFacts): ClusterFamily[] {
  return [
    ...taskFamilies(facts),
    ...pageFamilies(facts),
    ...queueFamilies(facts),
    ...actorFamilies(facts),
    ...egressFamilies(facts),
    ...storeFamilies(facts),
  ];
}

function taskFamilies({ snapshot: { totals, runs }, tally }: ClusterFacts): ClusterFamily[] {
  return [
    counter('trawl_tasks_submitted_total', 'Tasks that were read from submissions.', totals.submitted),
    counter('trawl_tasks_accepted_total', 'Tasks that were new to their run.', totals.accepted),
    counter('trawl_tasks_duplicate_total', 'Tasks that their run knew already.', totals.duplicates),
    counter('trawl_tasks_refused_total', 'Tasks that were refused by the request itself.', tally.refused),
    counter('trawl_tasks_done_total', 'Tasks that are done.', totals.done),
    counter('trawl_tasks_dead_total', 'Deaths of tasks: one that is put back may die again.', totals.dead),
    counter('trawl_tasks_cancelled_total', 'Tasks that nobody wanted any more.', totals.cancelled),
    counter(
      'trawl_tasks_redriven_total',
      'Dead tasks that are dead no longer: put back, or let go.',
      totals.redriven,
    ),
    named('trawl_tasks_retried_total', {
      help: 'Attempts that failed and are made again, by what went wrong.',
      label: 'code',
      counts: tally.retried,
      known: RETRY_CODES,
    }),
    named('trawl_tasks_deferred_total', {
      help: 'Attempts that were put off without blame, by reason.',
      label: 'reason',
      counts: tally.deferred,
      known: DEFER_REASONS,
    }),
    counter('trawl_items_total', 'Items that tasks have emitted.', totals.items),
    durations('trawl_task_duration_seconds', 'Attempts of tasks, from start to end.', tally.task),
    durations('trawl_task_wait_seconds', 'How long tasks that were ready waited for a worker.', tally.wait),
    byLabel('trawl_runs', { help: 'Runs that have not ended, by state.', label: 'state', counts: runs }),
  ];
}

function pageFamilies({ snapshot: { totals }, tally, hosts }: ClusterFacts): ClusterFamily[] {
  return [
    named('trawl_pages_total', {
      help: 'Pages that were fetched, by what became of them.',
      label: 'outcome',
      counts: tally.pages,
      known: PAGE_OUTCOMES,
    }),
    counter('trawl_page_bytes_total', 'Bytes of bodies, as they came.', totals.bytes),
    durations(
      'trawl_page_duration_seconds',
      'Requests of pages, from the first byte sent to the last byte read.',
      tally.page,
    ),
    byHost('trawl_host_requests_total', 'Requests to the busiest hosts, by class of the answer.', (host) =>
      ANSWER_CLASSES.map((name, place) => ({ labels: { class: name }, value: host.requests[place] ?? 0 })),
    ),
    byHost('trawl_host_blocks_total', 'Answers of the busiest hosts that turn us away.', ({ blocks }) => [
      { value: blocks },
    ]),
    byHost('trawl_host_seconds_total', 'Time that requests to the busiest hosts took.', ({ seconds }) => [
      { value: seconds },
    ]),
  ];

  function byHost(name: string, help: string, read: (sums: HostSums) => readonly Line[]): Family {
    const lines = [...hosts].flatMap(([host, sums]) =>
      read(sums).map(({ labels, value }) => ({ labels: { host, ...labels }, value })),
    );
    return { name, help, type: 'counter', lines };
  }
}

function queueFamilies({ snapshot: { queue } }: ClusterFacts): ClusterFamily[] {
  const byPriority = (name: string, help: string, key: 'ready' | 'running'): Family => ({
    name,
    help,
    type: 'gauge',
    lines: queue.lanes.map((lane) => ({ labels: { priority: String(lane.priority) }, value: lane[key] })),
  });
  return [
    byPriority('trawl_queue_ready', 'Tasks that wait for a worker.', 'ready'),
    byPriority('trawl_queue_running', 'Tasks that are in the hands of workers.', 'running'),
    gauge('trawl_queue_delayed', 'Tasks that wait for their time, or are held back.', queue.delayed),
    gauge('trawl_queue_intake', 'Submissions that are not taken in yet.', queue.intake),
    gauge(
      'trawl_queue_oldest_seconds',
      'How long the task has waited that waits for longest.',
      (queue.oldestReadyMs ?? 0) / 1e3,
    ),
  ];
}

function actorFamilies(facts: ClusterFacts): ClusterFamily[] {
  const { snapshot, tally, actors, leaders, decisions } = facts;
  const { workers, workersDesired } = snapshot;
  const sum = (key: 'slots' | 'slotsNow' | 'busy' | 'starved'): number =>
    workers.reduce((total, worker) => total + worker[key], 0);
  return [
    {
      name: 'trawl_actors',
      help: 'Actors by role and status, from their heartbeats.',
      type: 'gauge',
      lines: actors.map(({ role, status, count }) => ({
        labels: { actor_role: role, status },
        value: count,
      })),
    },
    named('trawl_actor_starts_total', {
      help: 'Starts of actors, first ones and others.',
      label: 'actor_role',
      counts: tally.starts,
      known: ROLES,
    }),
    byLabel('trawl_slots', {
      help: 'Tasks that workers may run at once by their settings, allow themselves now, run, and run without egress.',
      label: 'state',
      counts: { all: sum('slots'), allowed: sum('slotsNow'), busy: sum('busy'), starved: sum('starved') },
    }),
    {
      name: 'trawl_leader',
      help: 'Always 1; who leads is a label.',
      type: 'gauge',
      lines: leaders.map(({ lead, actor }) => ({ labels: { lead, actor_id: actor }, value: 1 })),
    },
    ...(workersDesired === undefined
      ? []
      : [gauge('trawl_workers_desired', 'Workers that the autoscaler wants.', workersDesired)]),
    named('trawl_autoscale_decisions_total', {
      help: 'Decisions of the autoscaler, by what it did.',
      label: 'action',
      counts: decisions ?? {},
      known: decisions ? ACTIONS : [],
    }),
  ];
}

function egressFamilies({ snapshot: { egress }, egressKnown }: ClusterFacts): ClusterFamily[] {
  if (!egressKnown) return [];
  return [
    byLabel('trawl_proxies', { help: 'Proxies by state.', label: 'state', counts: egress.proxies }),
    byLabel('trawl_sessions', { help: 'Sessions by state.', label: 'state', counts: egress.sessions }),
    gauge('trawl_egress_leases', 'Leases that workers hold.', egress.leases),
    gauge('trawl_egress_hosts', 'Hosts that are known.', egress.hosts),
    gauge('trawl_egress_hosts_closed', 'Hosts that are closed to everybody.', egress.hostsClosed),
  ];
}

function storeFamilies({ streams, ms }: ClusterFacts): ClusterFamily[] {
  const byStream = (name: string, help: string, key: 'bytes' | 'messages' | 'limitBytes'): Family => ({
    name,
    help,
    type: 'gauge',
    lines: streams.flatMap((facts) => {
      const value = facts[key];
      return value === undefined ? [] : [{ labels: { stream: facts.stream }, value }];
    }),
  });
  return [
    byStream('trawl_stream_bytes', 'Bytes that a stream of NATS holds.', 'bytes'),
    byStream('trawl_stream_limit_bytes', 'Bytes that it may hold.', 'limitBytes'),
    byStream('trawl_stream_messages', 'Messages that it holds.', 'messages'),
    gauge('trawl_snapshot_seconds', 'How long the last look at the whole cluster took.', ms / 1e3),
  ];
}
