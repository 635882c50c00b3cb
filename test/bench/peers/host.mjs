/**
 * A process of one contestant: loads its module, and calls its functions as the bench asks. Every contestant, ours too,
 * is driven through this, so that a message more or less costs all of them the same.
 */
const [, , module, settings] = process.argv;
const { open } = await import(module);
const peer = await open(JSON.parse(settings));

process.on('message', ({ id, call, args }) => {
  Promise.resolve(peer[call](args)).then(
    (value) => process.send({ id, value }),
    (error) => process.send({ id, error: String(error?.stack ?? error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send({ id: 0 });
