import type { Request, Turn } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { clientGone } from '../http/connections/clientGone.js';
import { clientKey } from '../http/requests/proxy.js';
import type { Services } from '../services.js';

/** Runs work on many items of the disk when it is the client's turn; between two of them it awaits its next one. */
export function queued<T>(
	{ walkQueue }: Pick<Services, 'walkQueue'>,
	viewer: Viewer,
	request: Request,
	work: (signal: AbortSignal, turn: Turn) => Promise<T>,
): Promise<T> {
	const signal = clientGone(request);
	return walkQueue.run(clientKey(viewer, request.client.address), (turn) => work(signal, turn), signal);
}
