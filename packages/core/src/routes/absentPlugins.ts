import { optionalEndpoints } from '@stowage/contract';
import { route, type Server } from '@stowage/plugin-api';

/** Calls of plugins that this server runs without: each is answered as the contract says, instead of as one that does not exist. */
export function absentPluginRoutes(server: Server, basePath: string) {
	const taken = new Set(server.table().map(({ method, path }) => `${method} ${path}`));
	return optionalEndpoints
		.filter(({ endpoint: { method, path } }) => !taken.has(`${method.toLowerCase()} ${basePath}${path}`))
		.map(({ endpoint, whenAbsent }) => route(endpoint, whenAbsent));
}
