import { randomBytes } from 'node:crypto';
import * as contract from '@stowage/contract';
import { schemas } from '@stowage/contract';
import { type Request, route } from '@stowage/plugin-api';
import { Failure, previewOf, type Viewer } from '@stowage/rules';
import { z } from 'zod';
import { visitorOf } from '../../config/strangers.js';
import { limitAddress } from '../../http/requests/proxy.js';
import { rateLimited } from '../../limits/rateLimited.js';
import { Lifetimes } from '../../links/Lifetimes.js';
import { sendFile } from '../../responses/sendFile.js';
import { secretHash } from '../../secretHash.js';
import type { Services } from '../../services.js';
import { whilePermitted } from './whilePermitted.js';

const ttlMs = 10 * 60_000;
/** For how long a link is remembered: for as long again as it worked, it is answered with 410. */
const rememberedMs = 2 * ttlMs;

/** The most valid links of one user, or of one address of visitors. */
const maxLinks = 100;

const viewerRow = z.object({
	/** The user on whose behalf it grants access, as long as their session lasts; none for a visitor's. */
	user: z.object({ id: z.string(), username: z.string(), session: z.string() }).optional(),
	area: schemas.area,
	path: schemas.itemPath,
	owner: z.string().nullable().optional(),
	/** The version of the file: another file of its name is not served. */
	itemId: z.string(),
	expiresAt: z.number(),
});

/**
 * Links by which an external viewer fetches one document, after its user agreed, until they expire or the session ends that made them.
 * The server itself calls no viewer.
 */
export function viewerRoutes(services: Services) {
	const { audit, config, database, files, sessions, settingTransfers, log, now, monotonic } = services;
	const rows = database.keyValues('viewer-links');
	const lifetimes = new Lifetimes(now, monotonic);
	const isGood = (token: string, expiresAt: number) => {
		const life = { id: secretHash(token), createdAt: expiresAt - ttlMs, expiresAt, isEnded: false };
		return lifetimes.stateOf(life) === 'good';
	};

	const assertRoom = async (viewer: Viewer, request: Request) => {
		const who = viewer.kind === 'user' ? `user ${viewer.id}` : limitAddress(request.client.address);
		const { count, endsAt } = await database.limits.hit(`viewer-links:${who}`, ttlMs, now());
		if (count > maxLinks) throw rateLimited('Too many documents were opened. Please wait a moment.', endsAt, now());
	};

	return [
		route(contract.viewerLink, async ({ viewer, payload: { path, type, owner }, request, h }) => {
			if (!config.externalViewers) throw new Failure('forbidden', 'External viewers are turned off on this server.');
			if (!config.publicUrl.startsWith('https:'))
				throw new Failure(
					'forbidden',
					'External viewers need a public https address, which this server has not been given.',
				);
			await assertRoom(viewer, request);
			const named = { area: type, path, ...(owner === undefined ? {} : { owner }) };
			const { entry, file } = await files.open(viewer, named);
			const { id: itemId } = file.item;
			await file.close();
			const { kind, isPreviewable } = previewOf(entry.name, entry.size);
			if (kind !== 'document' || !isPreviewable) throw new Failure('invalid', 'File cannot be previewed');
			const token = randomBytes(32).toString('base64url');
			const expiresAt = now() + ttlMs;
			const session = sessions.keyOf(request);
			const user =
				viewer.kind === 'user' && session !== undefined
					? { user: { id: viewer.id, username: viewer.username, session } }
					: {};
			const found = entry.owner === undefined ? {} : { owner: entry.owner };
			// From here on its time is measured by the monotonic clock.
			isGood(token, expiresAt);
			await rows.set(token, { ...user, area: type, path, ...found, itemId, expiresAt }, rememberedMs);
			const url = `${new URL(config.publicUrl).origin}${config.basePath}/api/viewerLink/${token}/${encodeURIComponent(entry.name)}`;
			audit.record({ action: 'openInViewer', viewer, area: type, path, ...found }, { outcome: 'ok' });
			return h.response({ url, expiresAt }).code(201);
		}),

		route(contract.followViewerLink, async ({ params, request, h }) => {
			const token = params.token ?? '';
			const row = config.externalViewers ? await rows.get(token) : undefined;
			if (row === undefined) throw noSuchLink();
			// One of an earlier version may belong to a session that ended.
			const parsed = viewerRow.safeParse(row);
			if (!parsed.success) throw noSuchLink();
			const { user, area, path, owner, itemId, expiresAt } = parsed.data;
			if (!isGood(token, expiresAt)) throw new Failure('expired', 'This link has expired.');
			if (user !== undefined && !(await sessions.isValid(user.session))) throw noSuchLink();
			const viewer: Viewer =
				user === undefined ? visitorOf(config) : { kind: 'user', id: user.id, username: user.username };
			const item = { area, path, ...(owner === undefined ? {} : { owner }) };
			return audit.sending({ action: 'openInViewer', viewer, ...item }, request.raw.res, async () => {
				const { entry, file } = await files.open(viewer, item);
				if (file.item.id !== itemId) {
					await file.close();
					throw noSuchLink();
				}
				const send = () => sendFile(request, h, file, { name: entry.name, isInline: false, isKept: false, log });
				const leave = settingTransfers.enter('externalViewers', () => request.raw.res.destroy());
				return whilePermitted(services, request, send, user?.session).finally(leave);
			});
		}),
	];
}

function noSuchLink(): Failure {
	return new Failure('notFound', 'This link does not exist or no longer works.');
}
