import type { Audit } from '../audit/createAudit.js';
import type { Members } from './createMembers.js';

/** The same service, with each change recorded. */
export function auditedMembers(members: Members, audit: Audit): Members {
	return {
		...members,
		set: (viewer, path, wanted) =>
			audit.recorded(
				{ action: 'setMembers', viewer, area: 'private', path },
				() => members.set(viewer, path, wanted),
				({ members: made, isChanged }) =>
					isChanged
						? { detail: made.map(({ username, role }) => `${username} ${role}`).join(', '), entries: made.length }
						: undefined,
			),
		leave: (viewer, path) =>
			audit.recorded(
				{ action: 'leaveFolder', viewer, area: 'shared', path },
				() => members.leave(viewer, path),
				(owner) => ({ owner }),
			),
	};
}
