import type { AnyEndpoint } from '@stowage/contract';
import { type Call, type Request, route } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import { clientGone } from '../http/connections/clientGone.js';
import { queueClient } from '../http/requests/proxy.js';
import type { Services } from '../services.js';

type Turns = Pick<Services, 'changeQueue' | 'sessions'>;

/** How long a change has its place: whoever copies several large folders can rename something meanwhile. */
const placeMs = 2000;

/** Makes routes as `route` does, for calls that are one change each: it begins when it is the client's turn. */
export function changeRoutes(turns: Turns) {
	return <E extends AnyEndpoint>(endpoint: E, handle: Parameters<typeof route<E>>[1]) =>
		route<E>(endpoint, (call: Call<E>) => atTurnOf(turns, call.viewer, call.request, async () => await handle(call)));
}

/**
 * Makes a change when it is the client's turn. Throws `notSignedIn` if the session of the request has ended since it was looked at: while
 * the change waited, or since its body began where `body` is awaited.
 */
export async function atTurnOf<T>(
	{ changeQueue, sessions }: Turns,
	viewer: Viewer,
	request: Request,
	change: () => Promise<T>,
	body: 'short' | 'awaited' = 'short',
): Promise<T> {
	let isSessionOld = body === 'awaited';
	const onWait = () => {
		isSessionOld = true;
	};
	const leave = await changeQueue.enter(queueClient(viewer, request.client.address), clientGone(request), onWait);
	const timer = setTimeout(leave, placeMs);
	try {
		const session = isSessionOld ? sessions.keyOf(request) : undefined;
		if (session !== undefined && !(await sessions.isValid(session)))
			throw new Failure('notSignedIn', 'Please sign in first.');
		return await change();
	} finally {
		clearTimeout(timer);
		leave();
	}
}
