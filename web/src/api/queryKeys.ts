import type { Area } from '@stowage/rules';

/** The keys of all cached queries. A shorter key of a group, such as `listings.all`, means all queries whose keys begin with it. */
export const queryKeys = {
	session: ['session'],
	capabilities: ['capabilities'],
	links: ['links'],
	shares: ['shares'],
	received: ['received'],
	memberChanges: ['memberChanges'],
	share: {
		all: ['share'],
		of: (token: string) => ['share', token] as const,
	},
	userSessions: (username: string) => ['sessions', username] as const,
	twoFactor: (username: string) => ['totp', username] as const,
	jobs: {
		all: ['jobs'],
		of: (username: string) => ['jobs', username] as const,
	},
	trash: {
		all: ['trash'],
		of: (username: string) => ['trash', username] as const,
	},
	versions: {
		all: ['versions'],
		of: (area: Area, path: string) => ['versions', area, path] as const,
	},
	members: (path: string) => ['members', path] as const,
	conversion: (id: string) => ['conversion', id] as const,
	previews: {
		all: ['preview'],
		firstBytes: (id: string) => ['preview', 'first', id] as const,
		whole: (id: string) => ['preview', 'whole', id] as const,
		rendition: (url: string) => ['preview', 'rendition', url] as const,
		failure: (url: string) => ['preview', 'answer', url] as const,
		encoding: (id: string) => ['preview', 'encoding', id] as const,
		/** The text of a file is another one in each encoding, also where it is as long. */
		table: (id: string, encoding: string) => ['preview', 'table', id, encoding] as const,
		tags: (id: string) => ['preview', 'tags', id] as const,
		tooManyTags: (id: string) => ['preview', 'tooManyTags', id] as const,
	},
	listings: {
		all: ['listing'],
		area: (area: Area) => ['listing', area] as const,
		folder: (place: string, directory: string) => ['listing', place, directory] as const,
		/** Begins like no folder's, so that what refetches a folder leaves them alone. */
		hits: (place: string, directory: string, reader: string, search: Readonly<Record<string, string>>) =>
			['listing', 'hits', place, directory, reader, search] as const,
		/** Begins as `hits` does, for the same reason. */
		first: (place: string, directory: string, reader: string) =>
			['listing', 'first', place, directory, reader] as const,
		/** Visitors see other entries in the public area than users do. */
		of: (place: string, directory: string, search: Readonly<Record<string, string>>, reader: string) =>
			['listing', place, directory, search, reader] as const,
	},
} as const;
