import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import type { z } from 'zod';
import type { Services } from '../services.js';
import type { Mount } from '../trees/storage/Mounts.js';

/** How long the database and the disks may take to say that they are there: a node whose database has died is to be left soon. */
const databaseProbeMs = 2000;
const storageProbeMs = 10_000;
const otherStorageProbeMs = 2000;

type ReadyChecks = z.output<typeof contract.ready.result>['checks'];

const isAllOk = (checks: Readonly<Record<string, string>>) => Object.values(checks).every((state) => state === 'ok');

/** Calls of the page and of a supervisor about the server itself. */
export function serviceRoutes({ config, databaseProbe, drain, liveProcesses, roots, version }: Services) {
	const check = async (probe: () => Promise<unknown>) => {
		try {
			await probe();
			return 'ok' as const;
		} catch {
			// Why is in the log of the part that failed; a probe only needs to know that.
			return 'unavailable' as const;
		}
	};
	const checkDatabase = () => check(() => databaseProbe.within(databaseProbeMs));
	const checkRoots = (mounts: readonly Mount[], ms: number) =>
		check(() => Promise.all(mounts.map(({ storage }) => roots.probes.check(storage, ms))));
	return [
		route(contract.health, () => ({ status: 'ok' as const, version })),

		route(contract.ready, async ({ query, request, h }) => {
			const plugins = await check(async () => {
				const { auth, storage: drivers } = request.server.providers;
				drivers.get(config.storage);
				auth.get(config.auth);
			});
			const answer = (checks: ReadyChecks, areOk: boolean) => {
				const status = drain.isDraining ? ('draining' as const) : areOk ? ('ok' as const) : ('unavailable' as const);
				return h.response({ status, checks }).code(status === 'ok' ? 200 : 503);
			};
			if (query.of === 'node') {
				const first = roots.default;
				const others = roots.all().filter((root) => root !== first);
				// At once, and the others within less: one that hangs must not keep the answer back until a balancer takes the
				// node for dead.
				const [ping, storage, otherStorage] = await Promise.all([
					checkDatabase(),
					checkRoots([first], storageProbeMs),
					checkRoots(others, otherStorageProbeMs),
				]);
				const clock = liveProcesses.isClockOff ? ('off' as const) : ('ok' as const);
				const needed = { database: ping, storage, plugins, clock };
				return answer({ ...needed, otherStorage }, isAllOk(needed));
			}
			// The roots all together: the answer is for strangers too, and neither their names nor their number are theirs to know.
			const [ping, storage] = await Promise.all([checkDatabase(), checkRoots(roots.all(), storageProbeMs)]);
			const checks = { database: ping, storage, plugins };
			return answer(checks, isAllOk(checks));
		}),

		route(contract.capabilities, ({ request }) => ({
			registration: config.registration,
			visitors: config.visitors,
			maxFileSize: config.uploads.maxFileSize,
			externalViewers: config.externalViewers,
			hasPublicHttps: config.publicUrl.startsWith('https:'),
			publicOrigin: config.publicUrl === '' ? null : new URL(config.publicUrl).origin,
			trashKeepFor: config.trash.keepFor,
			versionsKeepFor: config.versions.keepFor,
			shares: config.shares,
			handbrake: request.server.isOffered('handbrake'),
			thumbnails: request.server.providers.renderer.all().size > 0,
			thumbnailExtensions: [...request.server.providers.renderer.all().values()].flatMap(
				({ extensions = [] }) => extensions,
			),
		})),
	];
}
