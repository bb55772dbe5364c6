import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import type { Services } from '../services.js';

/** Calls of the page and of a supervisor about the server itself. */
export function serviceRoutes({ config, database, drain, roots, version }: Services) {
	const check = async (probe: () => Promise<unknown>) => {
		try {
			await probe();
			return 'ok' as const;
		} catch {
			// Why is in the log of the part that failed; a probe only needs to know that.
			return 'unavailable' as const;
		}
	};
	return [
		route(contract.health, () => ({ status: 'ok' as const, version })),

		route(contract.ready, async ({ request, h }) => {
			const checks = {
				database: await check(() => database.ping()),
				// All together: the answer is for strangers too, and neither the names of the roots nor their number are theirs to know.
				storage: await check(() => Promise.all(roots.all().map(({ storage }) => storage.check()))),
				plugins: await check(async () => {
					const { auth, storage: drivers } = request.server.providers;
					drivers.get(config.storage);
					auth.get(config.auth);
				}),
			};
			const areOk = Object.values(checks).every((state) => state === 'ok');
			const status = drain.isDraining ? ('draining' as const) : areOk ? ('ok' as const) : ('unavailable' as const);
			return h.response({ status, checks }).code(status === 'ok' ? 200 : 503);
		}),

		route(contract.capabilities, ({ request }) => ({
			registration: config.registration,
			visitors: config.visitors,
			maxFileSize: config.uploads.maxFileSize,
			externalViewers: config.externalViewers,
			hasPublicHttps: config.publicUrl.startsWith('https:'),
			trashKeepFor: config.trash.keepFor,
			versionsKeepFor: config.versions.keepFor,
			shares: config.shares,
			handbrake: request.server.providers.capability.find('handbrake')?.() ?? false,
			thumbnails: request.server.providers.renderer.all().size > 0,
			thumbnailExtensions: [...request.server.providers.renderer.all().values()].flatMap(
				({ extensions = [] }) => extensions,
			),
		})),
	];
}
