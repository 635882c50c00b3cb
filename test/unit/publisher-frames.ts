/** Messages as the bytes that the client library would have sent. */
import t from 'tap';
import { encodeFrames } from '../../src/nats/publisher/frames.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

t.test('with and without headers, an answer, a payload', async (t) => {
  const frames = [
    { subject: 'a.b', payload: bytes('hello'), headerLines: '' },
    { subject: 'a.c', payload: bytes(''), headerLines: '' },
    { subject: 'a.d', payload: bytes('grün'), headerLines: 'X: 1\r\n' },
    { subject: 'a.e', payload: bytes(''), headerLines: 'X: ä\r\nY: 2\r\n' },
  ];
  const replies = ['_INBOX.1', '', '_INBOX.3', ''];
  t.equal(
    encodeFrames(frames, (position) => replies[position] ?? '').toString(),
    [
      'PUB a.b _INBOX.1 5\r\nhello\r\n',
      'PUB a.c 0\r\n\r\n',
      'HPUB a.d _INBOX.3 18 23\r\nNATS/1.0\r\nX: 1\r\n\r\ngrün\r\n',
      'HPUB a.e 25 25\r\nNATS/1.0\r\nX: ä\r\nY: 2\r\n\r\n\r\n',
    ].join(''),
  );
  t.equal(encodeFrames([], () => '').length, 0);
});
