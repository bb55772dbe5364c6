import { accountFields, chosen } from '../audit/auditLine.js';
import type { Audit } from '../audit/createAudit.js';
import type { Shares } from './createShares.js';

/** Wraps the service: changes of shares are written to the audit log, by the shares' ids, which open nothing. */
export function auditedShares(shares: Shares, audit: Audit): Shares {
	return {
		...shares,
		make: (viewer, request, client) =>
			audit.recorded(
				{ action: 'createShare', viewer, area: 'private', ...chosen(request.paths.map((path) => ({ path }))) },
				() => shares.make(viewer, request, client),
				({ id }) => ({ share: id }),
			),
		change: (id, ownerId, choices, client) =>
			audit.recorded(
				{ action: 'changeShare', share: id, detail: Object.keys(choices).join(', ') },
				() => shares.change(id, ownerId, choices, client),
				({ share: { items }, isChanged }) =>
					isChanged ? { area: 'private', ...chosen(items.map(({ path }) => ({ path }))) } : undefined,
			),
		remove: (id, ownerId) =>
			audit.recorded(
				{ action: 'deleteShare', share: id },
				() => shares.remove(id, ownerId),
				({ owner, items }) => ({
					...(ownerId === undefined ? accountFields(owner) : {}),
					...({ area: 'private', ...chosen(items.map(({ path }) => ({ path }))) } as const),
				}),
			),
	};
}
