import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { baseName } from '@stowage/rules';
import { clientGone } from '../http/connections/clientGone.js';
import { clientKey } from '../http/requests/proxy.js';
import { decodePath } from '../http/requests/rawPath.js';
import { checkPreconditions } from '../responses/preconditions.js';
import { userFileHeaders } from '../responses/userFileHeaders.js';
import type { Services } from '../services.js';

/** Small pictures of files, made by plugins. */
export function thumbnailRoutes({ config, thumbnails }: Services) {
	const prefix = `${config.basePath}/api/thumbnail/`;
	return [
		route(contract.thumbnail, async ({ viewer, query, request, h }) => {
			const { url = '', headers: asked } = request.raw.req;
			const path = decodePath(url, prefix);
			const ref = { area: query.type, path, ...(query.owner === undefined ? {} : { owner: query.owner }) };
			const requester = { client: clientKey(viewer, request.client.address), signal: clientGone(request) };
			const isKnown = (etag: string) => checkPreconditions(asked, { etag, mtime: Number.NaN }) === 'notModified';
			// `*` matches any picture, so one must exist.
			const isNamed = (etag: string) => asked['if-none-match'] !== '*' && isKnown(etag);
			const { etag, bytes } = await thumbnails.get(viewer, ref, query.size, requester, isNamed);
			const presentation = { name: `${baseName(path)}.webp`, isInline: true, isKept: true, isPdf: false };
			const { 'accept-ranges': _, ...headers } = userFileHeaders(presentation);
			const response =
				bytes === undefined || isKnown(etag)
					? h.response().code(304)
					: h.response(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
			for (const [name, value] of Object.entries({ ...headers, etag })) response.header(name, value);
			return response;
		}),
	];
}
