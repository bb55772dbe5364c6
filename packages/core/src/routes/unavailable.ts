import { endpoint } from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

const calls = [
	endpoint({ method: 'GET', path: '/api/handbrake/check', audience: 'user' }),
	endpoint({ method: 'POST', path: '/api/handbrake/convert', audience: 'user' }),
	endpoint({ method: 'GET', path: '/api/handbrake/status/{conversionId}', audience: 'user' }),
	endpoint({ method: 'POST', path: '/api/handbrake/cancel/{conversionId}', audience: 'user' }),
];

/** Calls of the API that no part of this server answers yet: a client is told so, instead of being told that they do not exist. */
export function unavailableRoutes() {
	return calls.map((call) =>
		route(call, () => {
			throw new Failure('unavailable', 'This is not available on this server.');
		}),
	);
}
