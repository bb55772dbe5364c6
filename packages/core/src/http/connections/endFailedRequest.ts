import { currentContext } from '../../context.js';
import type { Log } from '../../log.js';

/**
 * Handles an uncaught error, called where Node reports it: ends the request that it belongs to, with its connection, and answers true.
 * False when it belongs to no request or says that the process has no memory left: then the state of the process is unknown, and it
 * should end.
 */
export function endFailedRequest(error: unknown, log: Log): boolean {
	const { socket, response, request } = currentContext() ?? {};
	if (socket === undefined || isOutOfMemory(error)) return false;
	const place = { method: response?.req.method, path: request?.caller.route.path };
	log.error({ err: error, ...place }, 'unexpected error: its connection is closed');
	// A request that has its response may share its connection with the next one by now.
	if (!response?.writableFinished) socket.destroy();
	return true;
}

function isOutOfMemory(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const code = 'code' in error ? error.code : undefined;
	const codes: unknown[] = ['ENOMEM', 'ERR_MEMORY_ALLOCATION_FAILED', 'ERR_WORKER_OUT_OF_MEMORY'];
	return codes.includes(code) || (error instanceof RangeError && /allocation failed/i.test(error.message));
}
