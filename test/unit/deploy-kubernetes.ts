/** config/k8s: objects that the API takes, with the figures and names that the program has. */
import t from 'tap';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../src/config/catalogue.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ROLES } from '../../src/domain/role.ts';
import { projectRoot } from '../../src/project-root.ts';
import { parseObject, type Deployment, type KubernetesObject } from '../kit/kubernetes-schema.ts';
import { recordedSeries } from '../kit/rule-files.ts';

interface Kustomization {
  readonly kind: string;
  readonly namespace: string;
  readonly resources: readonly string[];
  readonly patches?: readonly { readonly path?: string; readonly patch?: string; readonly target?: object }[];
}

const folder = join(projectRoot, 'config/k8s');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const { config: defaults } = loadConfig({ flags: {}, env: {}, cwd: '/' });
const envNames = new Set(settings.flatMap(({ env }) => env));
const ACTUATORS = ['scale-with-trawl', 'scale-with-hpa', 'scale-with-keda'];

function objectsIn(file: string): KubernetesObject[] {
  return parseAllDocuments(read(file)).map((document) => {
    if (document.errors[0]) throw new Error(`${file}: ${document.errors[0].message}`);
    return parseObject(document.toJS());
  });
}

function ofKind<K extends KubernetesObject['kind']>(
  kind: K,
  file: string,
): Extract<KubernetesObject, { kind: K }> {
  const found = objectsIn(file).find((object) => object.kind === kind);
  if (!found) throw new Error(`no ${kind} in ${file}`);
  return found as Extract<KubernetesObject, { kind: K }>;
}

const kustomizations = ['base', ...ACTUATORS];
const resources = kustomizations.flatMap((place) =>
  (parse(read(`${place}/kustomization.yaml`)) as Kustomization).resources
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `${place}/${name}`),
);
const base = resources.filter((file) => file.startsWith('base/'));
const deployments = base.flatMap((file) =>
  objectsIn(file).filter((object): object is Deployment => object.kind === 'Deployment'),
);

t.test('every file is listed, and every object is one that the API takes', async (t) => {
  for (const place of kustomizations) {
    const { kind, namespace, patches = [] } = parse(read(`${place}/kustomization.yaml`)) as Kustomization;
    t.strictSame({ kind, namespace }, { kind: 'Kustomization', namespace: 'trawl' });
    const used = [
      'kustomization.yaml',
      ...resources.filter((file) => file.startsWith(`${place}/`)).map((file) => file.slice(place.length + 1)),
      ...patches.flatMap(({ path }) => path ?? []),
    ];
    t.strictSame(readdirSync(join(folder, place)).sort(), used.sort(), place);
  }
  for (const file of resources) t.ok(objectsIn(file).length > 0, file);
  const keys = resources.flatMap(objectsIn).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  t.equal(new Set(keys).size, keys.length, 'no object twice');
});

t.test('the checks refuse what the API would refuse', async (t) => {
  const [good] = objectsIn('base/worker.yaml');
  const text = JSON.stringify(good);
  const wrongs = [
    text.replace('"replicas"', '"replicaz"'),
    text.replace('"readinessProbe"', '"readynessProbe"'),
    text.replace('"512Mi"', '"512MiB"'),
    text.replace('"containerPort":8080', '"containerPort":"8080"'),
    text.replace('apps/v1', 'apps/v1beta1'),
  ];
  for (const wrong of wrongs) {
    t.not(wrong, text);
    t.throws(() => parseObject(JSON.parse(wrong)));
  }
});

t.test('one deployment for each role, with probes, limits and credentials by reference', async (t) => {
  t.strictSame(
    deployments.map(({ spec }) => spec.template.spec.containers[0].args[0] ?? '').sort(),
    ROLES.filter((role) => role !== 'sink').sort(),
  );
  for (const { metadata, spec } of deployments) {
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    const [container] = containers;
    t.match(container, {
      name: metadata.name.replace('trawl-', ''),
      resources: {
        requests: { memory: '512Mi', cpu: '500m' },
        limits: { memory: '2Gi', cpu: '2' },
      },
      readinessProbe: {
        httpGet: { path: '/readyz', port: 'http' },
        initialDelaySeconds: 10,
        periodSeconds: 5,
      },
      livenessProbe: {
        httpGet: { path: '/healthz', port: 'http' },
        initialDelaySeconds: 30,
        periodSeconds: 10,
      },
    });
    t.strictSame(spec.selector.matchLabels, spec.template.metadata.labels, 'it selects its own pods');
    t.ok(terminationGracePeriodSeconds * 1e3 > defaultMs('actor.grace'), 'pods may finish their work');
    for (const { name, ...rest } of container.env) {
      t.ok(envNames.has(name), `${name} is a setting`);
      if (/PASSWORD|KEY|TOKEN|SEED/.test(name))
        t.match(rest, { valueFrom: { secretKeyRef: { name: 'trawl-nats' } } });
    }
  }
  const worker = deployments.find(({ metadata }) => metadata.name === 'trawl-worker');
  t.equal(worker?.spec.replicas, 3);
  for (const name of Object.keys(ofKind('ConfigMap', 'base/settings.yaml').data))
    t.ok(envNames.has(name), `${name} is a setting`);
});

t.test('budgets and the service fit the pods that they are about', async (t) => {
  const labels = deployments.map(({ spec }) => JSON.stringify(spec.template.metadata.labels));
  const about = base.flatMap(objectsIn).flatMap((object) => {
    if (object.kind === 'PodDisruptionBudget') return [object.spec.selector.matchLabels];
    return object.kind === 'Service' ? [object.spec.selector] : [];
  });
  t.equal(about.length, 4);
  for (const each of about) t.ok(labels.includes(JSON.stringify(each)), JSON.stringify(each));
});

t.test('one actuator in each folder, and the words that say so', async (t) => {
  for (const place of ACTUATORS) {
    const text = read(`${place}/kustomization.yaml`);
    t.match(text.replaceAll('\n# ', ' '), /One actuator only/, place);
    const { patches = [] } = parse(text) as Kustomization;
    t.match(
      patches.find(({ target }) => target),
      { target: { kind: 'Deployment', name: 'trawl-worker' }, patch: /op: remove\s+path: \/spec\/replicas/ },
      `${place}: the number of workers is left alone`,
    );
    const own = resources.filter((file) => file.startsWith(`${place}/`)).flatMap(objectsIn);
    const movers = own.filter(({ kind }) => /HorizontalPodAutoscaler|ScaledObject|RoleBinding/.test(kind));
    t.equal(movers.length, 1, place);
  }
  const autoscaler = deployments.find(({ metadata }) => metadata.name === 'trawl-autoscaler');
  t.match(
    autoscaler?.spec.template.spec.containers[0].env.find(({ name }) => name === 'TRAWL_AUTOSCALE_DRIVER'),
    { value: 'none' },
    'elsewhere our own autoscaler moves nothing',
  );
});

t.test('our own autoscaler has a driver, and the rights that it needs', async (t) => {
  const patch = parse(read('scale-with-trawl/autoscaler.yaml')) as {
    spec: { template: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
  };
  const env = patch.spec.template.spec.containers.flatMap((container) => container.env);
  for (const { name } of env) t.ok(envNames.has(name), `${name} is a setting`);
  t.match(env, [{ value: 'kubernetes' }, { name: 'TRAWL_AUTOSCALE_TARGET', value: 'trawl-worker' }]);
  t.strictSame(ofKind('Role', 'scale-with-trawl/rights.yaml').rules, [
    {
      apiGroups: ['apps'],
      resources: ['deployments/scale'],
      resourceNames: ['trawl-worker'],
      verbs: ['get', 'update'],
    },
    { apiGroups: [''], resources: ['pods'], verbs: ['patch'] },
  ]);
});

t.test('the figures of the autoscalers are those of the settings', async (t) => {
  const { spec: hpa } = ofKind('HorizontalPodAutoscaler', 'scale-with-hpa/hpa.yaml');
  const { spec: keda } = ofKind('ScaledObject', 'scale-with-keda/scaled-object.yaml');
  const behavior = {
    scaleUp: {
      stabilizationWindowSeconds: defaultMs('autoscale.cooldownUp') / 1e3,
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    },
    scaleDown: {
      stabilizationWindowSeconds: defaultMs('autoscale.cooldownDown') / 1e3,
      policies: [{ type: 'Percent', value: 50, periodSeconds: 60 }],
    },
  };
  t.match(hpa, { minReplicas: defaultOf('autoscale.min'), maxReplicas: defaultOf('autoscale.max') });
  t.strictSame(hpa.behavior, behavior);
  t.match(hpa.metrics, [
    {
      external: {
        metric: { name: 'trawl_backlog' },
        target: { averageValue: String(defaultOf('autoscale.jobsUp')) },
      },
    },
    { resource: { name: 'cpu', target: { averageUtilization: 70 } } },
    { resource: { name: 'memory', target: { averageUtilization: 80 } } },
  ]);
  t.match(keda, {
    minReplicaCount: defaultOf('autoscale.min'),
    maxReplicaCount: defaultOf('autoscale.max'),
    pollingInterval: defaultMs('autoscale.interval') / 1e3,
    cooldownPeriod: defaultMs('autoscale.cooldownDown') / 1e3,
    triggers: [{ metadata: { query: 'max(trawl_workers_desired)', threshold: '1' } }],
  });
  t.strictSame(keda.advanced.horizontalPodAutoscalerConfig.behavior, behavior);
});

t.test('what the charts of others are given', async (t) => {
  const adapter = parse(read('prometheus-adapter-values.yaml')) as {
    rules: { external: { seriesQuery: string }[] };
  };
  t.match(adapter.rules.external, [{ seriesQuery: 'trawl:backlog', name: { as: 'trawl_backlog' } }]);
  t.ok(recordedSeries().includes(adapter.rules.external[0]?.seriesQuery ?? ''));
  t.match(parse(read('nats-values.yaml')), {
    config: {
      cluster: { enabled: true, replicas: 3 },
      jetstream: { enabled: true, merge: { sync_interval: 'always' } },
      merge: { authorization: { users: [{ user: 'trawl', password: '<< $TRAWL_PASSWORD >>' }] } },
    },
    container: {
      env: { TRAWL_PASSWORD: { valueFrom: { secretKeyRef: { name: 'trawl-nats', key: 'password' } } } },
    },
  });
});

function defaultOf(path: string): unknown {
  const [section = '', key = ''] = path.split('.');
  const found = (defaults as unknown as Record<string, Record<string, unknown> | undefined>)[section]?.[key];
  if (found === undefined) throw new Error(`no setting ${path}`);
  return found;
}

function defaultMs(path: string): number {
  return defaultOf(path) as number;
}
