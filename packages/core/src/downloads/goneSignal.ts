import type { Request } from '@stowage/plugin-api';
import { ClientGone } from './writeBody.js';

/** Aborts with ClientGone when the client goes away before its answer is out, for work that writes nothing for a long time. */
export function goneSignal({ raw: { req, res } }: Request): AbortSignal {
	const gone = new AbortController();
	const abort = () => gone.abort(new ClientGone());
	res.once('close', abort);
	// An answer that waits behind another on the same connection hears of its end through the connection only.
	req.once('close', () => {
		if (req.socket.destroyed) abort();
	});
	return gone.signal;
}
