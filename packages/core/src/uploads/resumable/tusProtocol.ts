import type { RouteOptions, Server, ServerRoute } from '@hapi/hapi';
import * as contract from '@stowage/contract';
import { Failure } from '@stowage/rules';
import { addStep } from '../../http/requests/addStep.js';
import { textHeader } from '../uploadHeaders.js';

/** The version of the tus protocol that is spoken here. */
export const tusVersion = '1.0.0';

const tusPaths = [
	contract.createUpload,
	contract.inspectUpload,
	contract.createShareUpload,
	contract.inspectShareUpload,
].map(({ path }) => path);

/** The path of one upload, below the base path. */
const oneUpload = /^\/api\/(?:share\/[^/]+\/)?uploads\/./;

/**
 * Methods that a POST may override to. Not HEAD: Node would expect the body of a response to POST, and the connection
 * would lose its framing.
 */
const overrides = ['patch', 'delete'] as const;

/** The method override of tus, for clients that can't send the right method. */
export function registerMethodOverride(server: Server, basePath: string): void {
	addStep(server, 'onRequest', (request) => {
		if (
			request.method === 'post' &&
			request.path.startsWith(basePath) &&
			oneUpload.test(request.path.slice(basePath.length))
		) {
			const wanted = textHeader(request.raw.req.headers, 'X-HTTP-Method-Override')?.toLowerCase();
			const method = overrides.find((known) => known === wanted);
			if (method !== undefined) request.setMethod(method);
		}
	});
}

/** The routes, those of tus with its version in each request and response. */
export function withTusVersion(routes: readonly ServerRoute[]): ServerRoute[] {
	return routes.map((route) => {
		const options = route.options as RouteOptions;
		return isTus(options) ? { ...route, options: { ...options, ext: versionChecks } } : route;
	});
}

const versionChecks: RouteOptions['ext'] = {
	onPreAuth: {
		method(request, h) {
			if (request.headers['tus-resumable'] !== tusVersion) {
				throw new Failure('preconditionFailed', `Tus-Resumable: must be ${tusVersion}`, {
					headers: { 'tus-version': tusVersion },
				});
			}
			return h.continue;
		},
	},
	onPreResponse: {
		method({ response }, h) {
			if (!(response instanceof Error) && typeof response !== 'symbol') response.header('tus-resumable', tusVersion);
			return h.continue;
		},
	},
};

function isTus({ app }: RouteOptions): boolean {
	const endpoint = app?.endpoint?.();
	return endpoint !== undefined && endpoint.method !== 'OPTIONS' && tusPaths.includes(endpoint.path);
}
