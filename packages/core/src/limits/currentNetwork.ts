import { currentContext } from '../context.js';
import { networkKey } from '../http/requests/proxy.js';

/** The network of all that nobody has asked for. */
export const noNetwork = 'none';

/** The network of the request that the running code belongs to, or of the one that its job was started by; else `noNetwork`. */
export function currentNetwork(): string {
	const { request, job } = currentContext() ?? {};
	return (request === undefined ? job?.network : networkKey(request.caller.client.address)) || noNetwork;
}
