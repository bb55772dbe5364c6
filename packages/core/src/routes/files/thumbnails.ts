import * as contract from '@stowage/contract';
import { type Call, type ItemRef, type PictureSize, route } from '@stowage/plugin-api';
import { baseName, type Viewer } from '@stowage/rules';
import { clientGone } from '../../http/connections/clientGone.js';
import { queueClient } from '../../http/requests/proxy.js';
import { decodePath } from '../../http/requests/rawPath.js';
import { checkPreconditions } from '../../responses/preconditions.js';
import { userFileHeaders } from '../../responses/userFileHeaders.js';
import type { Services } from '../../services.js';
import { whilePermitted } from './whilePermitted.js';

/** A picture that was waited for longer than this is given only to who may still see its file. */
const longMs = 500;

/** Small pictures of files, made by plugins. */
export function thumbnailRoutes(services: Services) {
	const prefix = `${services.config.basePath}/api/thumbnail/`;
	return [
		route(contract.thumbnail, (call) => {
			const { viewer, query, request } = call;
			const path = decodePath(request.raw.req.url ?? '', prefix);
			const ref = { area: query.type, path, ...(query.owner === undefined ? {} : { owner: query.owner }) };
			return whilePermitted(services, request, () => sendThumbnail(services, call, viewer, ref, query.size));
		}),
	];
}

/** Answers with the picture of a file that `viewer` may read, which counts for the caller. */
export async function sendThumbnail(
	{ thumbnails, files }: Pick<Services, 'thumbnails' | 'files'>,
	{ viewer: caller, request, h }: Pick<Call<typeof contract.thumbnail>, 'viewer' | 'request' | 'h'>,
	viewer: Viewer,
	ref: ItemRef,
	size: PictureSize,
) {
	const { req } = request.raw;
	const requester = { ...queueClient(caller, request.client.address), signal: clientGone(request) };
	const isKnown = (etag: string) => checkPreconditions(req, { etag, mtime: Number.NaN }) === 'notModified';
	// `*` matches any picture, so one must exist.
	const isNamed = (etag: string) => req.headers['if-none-match'] !== '*' && isKnown(etag);
	const begunAt = performance.now();
	const { etag, bytes } = await thumbnails.get(viewer, ref, size, requester, isNamed);
	if (performance.now() - begunAt > longMs) await files.find(viewer, ref);
	const presentation = { name: `${baseName(ref.path)}.webp`, isInline: true, isKept: true, isPdf: false };
	const { 'accept-ranges': _, ...headers } = userFileHeaders(presentation);
	const response =
		bytes === undefined || isKnown(etag)
			? h.response().code(304)
			: h.response(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
	for (const [name, value] of Object.entries({ ...headers, etag })) response.header(name, value);
	return response;
}
