/** Work of this many milliseconds is done at once. With the step that ends it the page answers within 50 ms. */
const sliceMs = 20;

/** Does the steps of a long work in slices, between which the page reacts and draws. Throws the signal's reason once it has fired. */
export async function inTurns<T>(steps: Generator<undefined, T>, signal: AbortSignal): Promise<T> {
	for (let begun = performance.now(); ; ) {
		const { done, value } = steps.next();
		if (done) return value;
		if (performance.now() - begun < sliceMs) continue;
		await nextTurn(signal);
		begun = performance.now();
	}
}

/** Lets the page react and draw before what follows. Throws the signal's reason once it has fired. */
export async function nextTurn(signal: AbortSignal): Promise<void> {
	// A timer would wait for 4 ms, and in a hidden tab for a second.
	const { port1, port2 } = new MessageChannel();
	port2.postMessage(0);
	await new Promise((resolve) => {
		port1.onmessage = resolve;
	});
	port1.close();
	signal.throwIfAborted();
}
