import { accountFields } from '../audit/auditLine.js';
import type { Audit } from '../audit/createAudit.js';
import type { Links } from './createLinks.js';

/** Wraps the service: changes of links are written to the audit log, by the links' ids, which open nothing. */
export function auditedLinks(links: Links, audit: Audit): Links {
	return {
		...links,
		make: (viewer, path, expiration) =>
			audit.recorded(
				{ action: 'createLink', viewer, area: 'private', path },
				() => links.make(viewer, path, expiration),
				({ id }) => ({ link: id }),
			),
		revoke: (id, ownerId) =>
			audit.recorded(
				{ action: 'revokeLink', link: id },
				() => links.revoke(id, ownerId),
				({ owner, path }) => ({
					...(ownerId === undefined ? accountFields(owner) : {}),
					...({ area: 'private', path } as const),
				}),
			),
		purge: () =>
			audit.recorded(
				{ action: 'purgeLinks' },
				() => links.purge(),
				(entries) => (entries === 0 ? undefined : { entries }),
			),
	};
}
