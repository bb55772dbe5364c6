import type { ServerProcess } from './serverProcess.js';

export interface PageEvents {
	/** All events so far. */
	received: { event: string; data: Record<string, unknown> }[];
	isEnded(): boolean;
	close(): Promise<void>;
}

/** The events that a page connected to this process gets. */
export async function pageEvents({ url }: ServerProcess, cookie: string, query = 'type=private'): Promise<PageEvents> {
	const ending = new AbortController();
	const { body, status } = await fetch(`${url}/api/events?${query}`, { headers: { cookie }, signal: ending.signal });
	if (status !== 200) throw new Error(`The events were answered with ${status}.`);
	const received: PageEvents['received'] = [];
	let isEnded = false;
	const reading = (async () => {
		let rest = '';
		for await (const text of (body as ReadableStream).pipeThrough(new TextDecoderStream()) as AsyncIterable<string>) {
			const blocks = (rest + text).split('\n\n');
			rest = blocks.pop() ?? '';
			for (const block of blocks) {
				const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
				if (event !== undefined && data !== undefined) received.push({ event, data: JSON.parse(data) });
			}
		}
	})()
		// The end of the stream is no fault: the test asserts the events.
		.catch(() => {})
		.finally(() => {
			isEnded = true;
		});
	return {
		received,
		isEnded: () => isEnded,
		async close() {
			ending.abort();
			await reading;
		},
	};
}
