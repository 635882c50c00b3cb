/** The demo site and its fake proxies for one test: closed with it, and looked at through plain clients. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { startFakeProxy, type FakeProxy, type FakeProxyOptions } from '../../src/demo-site/fake-proxy.ts';
import { startDemoSite, type DemoSite, type DemoSiteOptions } from '../../src/demo-site/site.ts';
import type { Teardown } from './nats-server.ts';

export async function openDemoSite(t: Teardown, options: DemoSiteOptions = {}): Promise<DemoSite> {
  const site = await startDemoSite(options);
  t.teardown(() => site.close());
  return site;
}

export async function openFakeProxy(t: Teardown, options: FakeProxyOptions): Promise<FakeProxy> {
  const proxy = await startFakeProxy(options);
  t.teardown(() => proxy.close());
  return proxy;
}

export interface Visited {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  json(): unknown;
}

export interface VisitOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly ca?: string;
  readonly from?: string; // local address
  readonly path?: string; // instead of the URL's, for a request in absolute form
}

/** One request on a connection of its own, nothing followed and nothing unpacked; rejects when the answer breaks off. */
export async function visit(url: string, options: VisitOptions = {}): Promise<Visited> {
  const { method = 'GET', headers = {}, body, ca, from, path } = options;
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = send(url, {
    method,
    headers,
    agent: false,
    ...(ca === undefined ? {} : { ca }),
    ...(from === undefined ? {} : { localAddress: from }),
    ...(path === undefined ? {} : { path }),
  });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
  const bytes = Buffer.concat(parts);
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: bytes,
    text: bytes.toString(),
    json: () => JSON.parse(bytes.toString()) as unknown,
  };
}
