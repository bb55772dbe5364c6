import { currentContext } from '../context.js';
import { networkKey } from '../http/requests/proxy.js';

/** The network of all that belongs to no request. */
export const noNetwork = 'none';

/** The network of the request that the running code belongs to, or `noNetwork`. */
export function currentNetwork(): string {
	const { request } = currentContext() ?? {};
	return (request !== undefined && networkKey(request.caller.client.address)) || noNetwork;
}
