import type { Request } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** Fires when the client leaves before it has its answer, for work that is done for nobody else. */
export function clientGone({ raw: { res } }: Request): AbortSignal {
	const controller = new AbortController();
	const onClose = () => {
		if (!res.writableFinished) controller.abort(new Failure('invalid', 'The client has left.'));
	};
	if (res.closed) onClose();
	else res.once('close', onClose);
	return controller.signal;
}
