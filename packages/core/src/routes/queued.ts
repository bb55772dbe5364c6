import { type Request, type Turn, Yielder } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { clientGone } from '../http/connections/clientGone.js';
import { queueClient } from '../http/requests/proxy.js';
import type { Services } from '../services.js';

/** Runs work on many items of the disk when it is the client's turn; between two of them it awaits its next one. */
export function queued<T>(
	{ walkQueue }: Pick<Services, 'walkQueue'>,
	viewer: Viewer,
	request: Request,
	work: (signal: AbortSignal, turn: Turn) => Promise<T>,
): Promise<T> {
	const signal = clientGone(request);
	return walkQueue.run(queueClient(viewer, request.client.address), (turn) => work(signal, turn), signal);
}

/**
 * Makes a list of rows of the database when it is the client's turn among those that ask for lists. `work` lets others have theirs by the
 * yielder: of a list of megabytes each part is made by itself, and those of one client by the dozen keep nobody waiting.
 */
export function listed<T>(
	{ listingQueue }: Pick<Services, 'listingQueue'>,
	viewer: Viewer,
	request: Request,
	work: (yielder: Yielder, signal: AbortSignal) => Promise<T>,
): Promise<T> {
	const signal = clientGone(request);
	return listingQueue.run(queueClient(viewer, request.client.address), () => work(new Yielder(), signal), signal);
}

/** The text of a JSON array, which is made item by item, and others have their turns between. */
export async function arrayText<T>(
	items: Iterable<T> | AsyncIterable<T>,
	textOf: (item: T) => string,
	yielder: Yielder,
	signal: AbortSignal,
): Promise<string> {
	const texts: string[] = [];
	for await (const item of items) {
		texts.push(textOf(item));
		if (yielder.shouldYield) await yielder.yield(signal);
	}
	return `[${texts.join(',')}]`;
}
