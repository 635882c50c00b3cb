/** A promise that somebody else resolves. */
export function createPromise(): { readonly promise: Promise<undefined>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<undefined>((done) => (resolve = () => done(undefined)));
  return { promise, resolve: () => resolve() };
}
