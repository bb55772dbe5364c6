import type { Server } from '@hapi/hapi';
import { optionalEndpoints } from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { takenRoute } from '../http/takenRoute.js';
import type { Services } from '../services.js';
import { registerMethodOverride, withTusVersion } from '../uploads/resumable/tusProtocol.js';
import { accountRoutes } from './accounts.js';
import { eventRoutes } from './events.js';
import { downloadRoutes } from './files/downloads.js';
import { fileRoutes } from './files/files.js';
import { resumableUploadRoutes } from './files/resumableUploads.js';
import { thumbnailRoutes } from './files/thumbnails.js';
import { trashRoutes } from './files/trash.js';
import { uploadRoutes } from './files/uploads.js';
import { versionRoutes } from './files/versions.js';
import { viewerRoutes } from './files/viewers.js';
import { jobRoutes } from './jobs.js';
import { linkRoutes } from './links.js';
import { memberRoutes } from './members.js';
import { pageRoutes } from './page.js';
import { serviceRoutes } from './service.js';
import { shareEventRoutes } from './shares/shareEvents.js';
import { shareGuestRoutes } from './shares/shareGuests.js';
import { createSharePreviews } from './shares/sharePreview.js';
import { shareRoutes } from './shares/shares.js';
import { shareUploadRoutes } from './shares/shareUploads.js';
import { ticketRoutes } from './tickets.js';

/** All calls of the API, and the page where it is built. Called after the plugins have registered theirs. */
export async function registerRoutes(server: Server, services: Services, webRoot: string | undefined): Promise<void> {
	const { config } = services;
	registerMethodOverride(server, config.basePath);
	const routes = [
		accountRoutes,
		fileRoutes,
		uploadRoutes,
		resumableUploadRoutes,
		downloadRoutes,
		ticketRoutes,
		eventRoutes,
		thumbnailRoutes,
		linkRoutes,
		memberRoutes,
		shareRoutes,
		shareGuestRoutes,
		shareEventRoutes,
		shareUploadRoutes,
		trashRoutes,
		versionRoutes,
		jobRoutes,
		viewerRoutes,
		serviceRoutes,
	].flatMap((make) => make(services));
	routes.push(...absentPluginRoutes(server, config.basePath));
	if (webRoot !== undefined) routes.push(...(await pageRoutes(config, webRoot, createSharePreviews(services))));
	try {
		await server.register(
			{ name: 'stowage', register: (own) => own.route(withTusVersion(routes)) },
			config.basePath === '' ? {} : { routes: { prefix: config.basePath } },
		);
	} catch (cause) {
		const taken = takenRoute(server, cause);
		if (taken === undefined) throw cause;
		throw new Error(`The plugin ${taken.plugin} has the route ${taken.path}, which is the server's own.`, { cause });
	}
	if (config.basePath === '') return;
	// For typed or bookmarked URLs with a slash at the end: hapi matches the path without it only.
	server.route({
		method: 'GET',
		path: `${config.basePath}/`,
		options: { auth: false },
		handler: (_request, h) => h.redirect(config.basePath),
	});
}

/** Calls of plugins that are not installed: each gets the response of the contract, instead of 404. */
function absentPluginRoutes(server: Server, basePath: string) {
	const taken = new Set(server.table().map(({ method, path }) => `${method} ${path}`));
	return optionalEndpoints
		.filter(({ endpoint: { method, path } }) => !taken.has(`${method.toLowerCase()} ${basePath}${path}`))
		.map(({ endpoint, whenAbsent }) => route(endpoint, whenAbsent));
}
