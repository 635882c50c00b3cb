/** What a page may not lead the browser to: whatever it tries, the site next door sees nothing. */
import t from 'tap';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { needChromium, startBrowser } from '../kit/chromium.ts';
import { listen, startRaw, startSite } from '../kit/http-world.ts';
import { listOwnPorts } from '../kit/own-ports.ts';

const path = needChromium(t);
if (path !== undefined) {
  t.test('sub-resources, frames, WebSockets, redirects, windows, video calls', async (t) => {
    const touched: string[] = [];
    const secret = await startRaw(t, (socket) => {
      touched.push('tcp');
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\naccess-control-allow-origin: *\r\n\r\nleaked');
    });
    const udp = createSocket('udp4', () => touched.push('udp'));
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    t.teardown(() => udp.close());
    const stun = udp.address().port;
    const port = await startSite(t, (request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.url === '/moved') {
        response.writeHead(302, { location: `http://127.0.0.1:${secret}/` }).end();
        return;
      }
      response.end(pageAgainst(secret, stun));
    });
    const { open, failing } = startBrowser(t, path, { allowLoopback: [`127.0.0.1:${port}`] });
    const { body } = await open(`http://127.0.0.1:${port}/`, { waitFor: '#done' });
    const text = body.toString();
    t.match(text, /fetch: refused/);
    t.match(text, /moved: refused/);
    t.match(text, /name: refused/);
    t.match(text, /socket: refused/);
    t.notMatch(text, /: leaked/);
    t.match(await failing(`http://127.0.0.1:${secret}/`), { code: 'REJECTED', sent: false });
    t.match(await failing(`http://localhost:${secret}/`), { code: 'REJECTED', sent: false });
    t.match(await failing(`http://[::1]:${secret}/`), { code: 'REJECTED', sent: false });
    t.match(await failing('http://169.254.169.254/latest/'), { code: 'REJECTED', sent: false });
    t.same(touched, []);
  });

  t.test('a name that leads to a forbidden address', async (t) => {
    const port = await startSite(t, (_, response) => response.end('secret'));
    const { failing } = startBrowser(t, path, {
      resolve: (_name, _options, done: (error: null, found: LookupAddress[]) => void) =>
        done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    t.match(await failing(`http://rebound.example:${port}/`), {
      code: 'REJECTED',
      message: /rebound\.example, which is 127\.0\.0\.1/,
    });
  });

  t.test('a WebSocket to a place that may be reached works', async (t) => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<p id=out></p><script>
        new WebSocket('ws://' + location.host).onmessage = ({ data }) => {
          out.textContent = data;
          out.className = 'done';
        };</script>`);
    });
    server.on('upgrade', (request, socket) => {
      const key = `${request.headers['sec-websocket-key'] ?? ''}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from('hello')]));
    });
    const port = await listen(t, server);
    const { open } = startBrowser(t, path, { allowLoopback: [`127.0.0.1:${port}`] });
    const { body } = await open(`http://127.0.0.1:${port}/`, { waitFor: '.done' });
    t.match(body.toString(), /hello/);
  });

  t.test('pages stay at their host, and open no windows', async (t) => {
    const seen: string[] = [];
    const other = await startSite(t, (request, response) => {
      seen.push(`other ${request.url ?? ''}`);
      response.end();
    });
    const port = await startSite(t, (request, response) => {
      seen.push(request.url ?? '');
      response.setHeader('content-type', 'text/html');
      const isSecond = request.url === '/second';
      response.end(
        isSecond
          ? '<p class=second>second</p>'
          : `<script>
              open('http://127.0.0.1:${other}/window'); open('/own-window', '_blank', 'noopener');
              location.href = 'http://127.0.0.1:${other}/away';
              setTimeout(() => (location.href = '/second'), 200);</script>`,
      );
    });
    const allowLoopback = [port, other].map((each) => `127.0.0.1:${each}`);
    const { open, engine } = startBrowser(t, path, { allowLoopback });
    const { body } = await open(`http://127.0.0.1:${port}/`, { waitFor: '.second' });
    t.match(body.toString(), /second/, 'it may move on at its own host');
    t.same(seen, ['/', '/second']);
    t.equal(engine.stats().pages, 0);
  });

  t.test('the ports of the relay take nobody further', async (t) => {
    const touched: string[] = [];
    const secret = await startRaw(t, () => touched.push('tcp'));
    const port = await startSite(t, (_, response) => response.end('ok'));
    const { open } = startBrowser(t, path, { allowLoopback: [`127.0.0.1:${port}`] });
    await open(`http://127.0.0.1:${port}/`);
    const relays = listOwnPorts().filter((each) => each !== port && each !== secret);
    t.equal(relays.length, 2, 'one of the identity, one that refuses everything');
    for (const relay of relays) {
      const socket = connect(relay, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, secret >> 8, secret & 255]));
      socket.resume();
      await once(socket, 'close');
    }
    t.same(touched, []);
  });
}

function pageAgainst(secret: number, stun: number): string {
  const at = `http://127.0.0.1:${secret}`;
  return `<body><iframe src="${at}/frame"></iframe><link rel=stylesheet href="${at}/css">
<link rel=prefetch href="${at}/prefetch"><link rel=preconnect href="${at}"><script src="${at}/js"></script>
<script>
const say = (what) => document.body.append(Object.assign(document.createElement('p'), { textContent: what }));
const tried = (name, url) => fetch(url).then((r) => r.text(), () => 'refused').then((text) => say(name + ': ' + text));
const socket = new Promise((done) => {
  const ws = new WebSocket('ws://127.0.0.1:${secret}/');
  ws.onopen = () => done('leaked');
  ws.onerror = () => done('refused');
}).then((text) => say('socket: ' + text));
const calls = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${stun}' }] });
calls.createDataChannel('x');
calls.createOffer().then((offer) => calls.setLocalDescription(offer));
const gathered = new Promise((done) => {
  calls.onicegatheringstatechange = () => calls.iceGatheringState === 'complete' && done();
  setTimeout(done, 3000);
});
navigator.sendBeacon('${at}/beacon');
Promise.all([tried('fetch', '${at}/'), tried('name', 'http://localhost:${secret}/'), tried('moved', '/moved'), socket, gathered])
  .then(() => document.body.append(Object.assign(document.createElement('b'), { id: 'done' })));
</script>`;
}
