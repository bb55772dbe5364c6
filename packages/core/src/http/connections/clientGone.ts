import type { ServerResponse } from 'node:http';
import type { Request } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** The signal of each response, so that calls for the same response share one listener. */
const signals = new WeakMap<ServerResponse, AbortSignal>();

/**
 * Fires when the client leaves before it has its response, for work that serves no other client. The same for each call with a request.
 */
export function clientGone({ raw: { res } }: Request): AbortSignal {
	const known = signals.get(res);
	if (known !== undefined) return known;
	const controller = new AbortController();
	signals.set(res, controller.signal);
	const onClose = () => {
		if (!res.writableFinished) controller.abort(new Failure('invalid', 'The client has left.'));
	};
	if (res.closed) onClose();
	else res.once('close', onClose);
	return controller.signal;
}
