/** The drivers, each against a stand-in of the platform's API, with the words and the refusals of the real one. */
import t from 'tap';
import { once } from 'node:events';
import { writeFileSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createDriver } from '../../src/cluster/create-driver.ts';
import type { ActorParts } from '../../src/cluster/roles.ts';
import { loadConfig } from '../../src/config/load.ts';
import { makeCertificate } from '../../src/demo-site/certificate.ts';
import { createCommandDriver } from '../../src/drivers/command.ts';
import { createKubernetesDriver } from '../../src/drivers/kubernetes.ts';
import { createSwarmDriver } from '../../src/drivers/swarm.ts';
import type { WorkerControl } from '../../src/drivers/driver.ts';
import { createApiClient } from '../../src/http/api-client.ts';
import { createPrometheusSource } from '../../src/http/prometheus.ts';
import { temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { makeWorker } from '../kit/snapshots.ts';

const never = new AbortController().signal;
const workers = [
  makeWorker({ id: 'w1', host: 'trawl-worker-1', busy: 2 }),
  makeWorker({ id: 'w2', host: 'trawl-worker-2', busy: 0 }),
  makeWorker({ id: 'w3', host: 'elsewhere', busy: 1 }),
];

function control(): { calls: string[]; control: WorkerControl } {
  const calls: string[] = [];
  return {
    calls,
    control: {
      drain: async (id) => void calls.push(`drain ${id}`),
      pause: async (id) => void calls.push(`pause ${id}`),
      untilIdle: async (ids) => void calls.push(`idle ${ids.join()}`),
    },
  };
}

async function serve(t: Teardown, handler: RequestListener, path?: string): Promise<string> {
  const server = createServer(handler);
  if (path === undefined) server.listen(0, '127.0.0.1');
  else server.listen(path);
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  return path === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix://${path}`;
}

/** A Deployment's scale, with optimistic concurrency; somebody else may change it right before a write. */
function kubernetes(options: { meddle?: number } = {}): {
  handler: RequestListener;
  seen: string[];
  replicas: () => number;
} {
  const seen: string[] = [];
  let replicas = 3;
  let version = 41;
  let meddling = options.meddle ?? 0;
  const handler: RequestListener = (request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  };
  return { handler, seen, replicas: () => replicas };

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const { method = '', url = '', headers } = request;
    const sent = await text(request);
    seen.push(`${method} ${url}`);
    if (headers.authorization !== 'Bearer token-2') return { status: 401, body: { message: 'Unauthorized' } };
    const pod = /^\/api\/v1\/namespaces\/shop\/pods\/(.*)$/.exec(url)?.[1];
    if (pod !== undefined) {
      if (headers['content-type'] !== 'application/merge-patch+json') return { status: 415, body: {} };
      seen.push(sent);
      return pod.startsWith('trawl-worker')
        ? { status: 200, body: {} }
        : { status: 404, body: { message: `pods "${pod}" not found` } };
    }
    if (url !== '/apis/apps/v1/namespaces/shop/deployments/trawl-worker/scale')
      return { status: 404, body: { message: 'deployments.apps "x" not found' } };
    if (method === 'PUT') {
      const wanted = JSON.parse(sent) as {
        metadata: { resourceVersion: string };
        spec: { replicas: number };
      };
      if (meddling > 0) {
        meddling -= 1;
        version += 1;
      }
      if (wanted.metadata.resourceVersion !== String(version))
        return { status: 409, body: { message: 'the object has been modified', reason: 'Conflict' } };
      replicas = wanted.spec.replicas;
      version += 1;
    }
    const metadata = { name: 'trawl-worker', namespace: 'shop', resourceVersion: String(version) };
    return { status: 200, body: { kind: 'Scale', metadata, spec: { replicas }, status: { replicas } } };
  }
}

t.test('Kubernetes', async (t) => {
  const scale = { namespace: 'shop', deployment: 'trawl-worker', drainWaitMs: 1_000 };
  const token = (): string => 'token-2';

  t.test('up and down, the least busy pod first', async (t) => {
    const { handler, seen, replicas } = kubernetes();
    const api = createApiClient({ url: await serve(t, handler), token });
    const { calls, control: hands } = control();
    const driver = createKubernetesDriver({ ...scale, api, control: hands });
    t.equal(await driver.count([]), 3);
    await driver.apply({ from: 3, to: 5, workers }, never);
    t.equal(replicas(), 5);
    t.strictSame(calls, [], 'nobody is asked anything on the way up');
    await driver.apply({ from: 5, to: 3, workers }, never);
    t.equal(replicas(), 3);
    t.strictSame(calls, ['pause w2', 'idle w2'], 'w3 is in no pod that we know');
    t.ok(seen.some((line) => line.includes('"controller.kubernetes.io/pod-deletion-cost":"-1000"')));
    await driver.close();
  });

  t.test('somebody else changed it: read again, and not for ever', async (t) => {
    const twice = kubernetes({ meddle: 2 });
    const api = createApiClient({ url: await serve(t, twice.handler), token });
    await createKubernetesDriver({ ...scale, api, control: control().control }).apply(
      { from: 3, to: 4, workers },
      never,
    );
    t.equal(twice.replicas(), 4);
    t.equal(twice.seen.filter((line) => line.startsWith('PUT')).length, 3);

    const always = kubernetes({ meddle: 99 });
    const stubborn = createApiClient({ url: await serve(t, always.handler), token });
    const driver = createKubernetesDriver({ ...scale, api: stubborn, control: control().control });
    await t.rejects(driver.apply({ from: 3, to: 4, workers }, never), {
      code: 'REJECTED',
      message: /the object has been modified/,
    });
    t.equal(always.replicas(), 3);
    await Promise.all([api.close(), stubborn.close()]);
  });

  t.test('over TLS with the files of a service account; the token is read anew', async (t) => {
    const folder = temporaryFolder(t);
    const { cert, key } = makeCertificate('self-signed', Date.now());
    const { handler } = kubernetes();
    const server = createTlsServer({ cert, key }, handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    t.teardown(() => server.closeAllConnections());
    writeFileSync(join(folder, 'ca.crt'), cert);
    writeFileSync(join(folder, 'token'), 'token-1\n');
    const { config } = loadConfig({
      flags: {
        'autoscale.driver': 'kubernetes',
        'autoscale.target': 'trawl-worker',
        'autoscale.namespace': 'shop',
        'autoscale.apiUrl': `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
        'autoscale.tokenFile': join(folder, 'token'),
        'autoscale.caFile': join(folder, 'ca.crt'),
      },
      env: {},
      cwd: folder,
    });
    const driver = await createDriver({ config } as ActorParts);
    t.teardown(() => driver.close());
    await t.rejects(driver.count([]), { message: /Unauthorized/, hint: /service account/ });
    writeFileSync(join(folder, 'token'), 'token-2\n');
    t.equal(await driver.count([]), 3);
  });
});

t.test('Docker Swarm, over a socket', async (t) => {
  const socket = join(temporaryFolder(t), 'docker.sock');
  let version = 7;
  let replicas = 3;
  let meddling = 1;
  const url = await serve(
    t,
    (request, response) => {
      void text(request).then((sent) => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
        const spec = {
          Name: 'trawl_worker',
          Labels: { a: 'b' },
          Mode: { Replicated: { Replicas: replicas } },
        };
        if (request.method === 'GET' && pathname === '/services/trawl_worker')
          response.end(JSON.stringify({ ID: 'abc', Version: { Index: version }, Spec: spec }));
        else if (request.method === 'GET')
          response.writeHead(404).end(JSON.stringify({ message: `service ${pathname} not found` }));
        else {
          if (meddling-- > 0) version += 1;
          if (pathname !== '/services/abc/update' || searchParams.get('version') !== String(version)) {
            response
              .writeHead(500)
              .end('{"message":"rpc error: code = Unknown desc = update out of sequence"}');
            return;
          }
          const wanted = JSON.parse(sent) as typeof spec;
          t.same(wanted.Labels, { a: 'b' }, 'the rest of it stays');
          replicas = wanted.Mode.Replicated.Replicas;
          version += 1;
          response.end('{}');
        }
      });
    },
    socket,
  );
  const { calls, control: hands } = control();
  const api = createApiClient({ url });
  const driver = createSwarmDriver({ api, service: 'trawl_worker', drainWaitMs: 1_000, control: hands });
  t.teardown(() => driver.close());
  t.equal(await driver.count([]), 3);
  await driver.apply({ from: 3, to: 6, workers }, never);
  t.equal(replicas, 6, 'also when somebody was faster once');
  await driver.apply({ from: 6, to: 5, workers }, never);
  t.equal(replicas, 5);
  t.strictSame(calls, ['idle ', 'drain w2', 'idle w2'], 'the least busy ends first');
  const unknown = createSwarmDriver({ api, service: 'nosuch', drainWaitMs: 1, control: hands });
  await t.rejects(unknown.count([]), { code: 'REJECTED', message: /not found/ });
});

t.test('a command', async (t) => {
  const file = join(temporaryFolder(t), 'told');
  const { calls, control: hands } = control();
  const driver = createCommandDriver({
    command: `echo '{from} {to} {ids}' > ${file}`,
    drainWaitMs: 1_000,
    control: hands,
  });
  t.equal(await driver.count([]), undefined, 'it cannot tell');
  await driver.apply({ from: 2, to: 4, workers }, never);
  t.equal(readFileSync(file, 'utf8'), '2 4 \n');
  await driver.apply({ from: 4, to: 2, workers }, never);
  t.equal(readFileSync(file, 'utf8'), '4 2 w2 w3\n');
  t.strictSame(calls, ['idle ', 'drain w2', 'drain w3', 'idle w2,w3']);
  const bad = createCommandDriver({ command: 'echo no room >&2; exit 3', drainWaitMs: 1, control: hands });
  await t.rejects(bad.apply({ from: 2, to: 3, workers }, never), { message: /ended with 3: no room/ });
});

t.test('Prometheus', async (t) => {
  const answers: Readonly<Record<string, string>> = {
    one: '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"42.5"]}]}}',
    scalar: '{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}',
    none: '{"status":"success","data":{"resultType":"vector","result":[]}}',
    nan: '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"NaN"]}]}}',
    two: '{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"2"]}]}}',
  };
  const url = await serve(t, (request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '';
    response.writeHead(answers[query] === undefined ? 400 : 200).end(answers[query] ?? '{"status":"error"}');
  });
  const source = createPrometheusSource(`${url}/`);
  t.teardown(() => source.close());
  t.equal(await source.query('one'), 42.5);
  t.equal(await source.query('scalar'), 7);
  t.equal(await source.query('none'), undefined);
  t.equal(await source.query('nan'), undefined);
  await t.rejects(source.query('two'), { code: 'INVALID', message: /2 series/, hint: /sum/ });
  await t.rejects(source.query('sum('), { code: 'REJECTED', message: /status 400/ });
  const away = createPrometheusSource('http://127.0.0.1:1');
  await t.rejects(away.query('one'), { code: 'NETWORK' });
});
