/** Answers that break the connection, or the protocol. */
import { TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import { pause, readNumber, sendText, type Pages } from '../visit.ts';
import { pour } from '../pour.ts';

const HANG_MAX_MS = 600_000;

export function brokenPages(): Pages {
  return {
    reset({ request, response, query }) {
      if (!query.has('late')) {
        reset(request.socket);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 10_000 });
      response.write('x'.repeat(1000), () => reset(request.socket));
    },
    async hang(visit) {
      if (await pause(visit, HANG_MAX_MS)) visit.request.socket.destroy();
    },
    'many-headers'(visit) {
      const count = readNumber(visit, 'n', { fallback: 500, max: 20_000 });
      const bytes = readNumber(visit, 'bytes', { fallback: 64, max: 4096 });
      for (let index = 0; index < count; index += 1) {
        visit.response.setHeader(`x-header-${index}`, 'v'.repeat(bytes));
      }
      sendText(visit, `${count} headers`);
    },
    'endless-headers'({ request: { socket } }) {
      socket.write('HTTP/1.1 200 OK\r\n');
      pour(socket, { piece: Buffer.from(`x-more: ${'v'.repeat(1000)}\r\n`.repeat(64)), bytes: Infinity });
    },
    'bad-http': ({ request }) =>
      void request.socket.end('This is not the protocol you are looking for.\r\n\r\n'),
  };
}

function reset(socket: Socket): void {
  // Only a bare TCP socket can be reset; under TLS the nearest thing is to vanish.
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
