import type { Area } from '@stowage/rules';

/** The words of the area selector, in a file of its own since the page of a share, which has none, would load them. */
export const areaMessages = {
	area: 'Area',
	areas: {
		private: 'Private Files',
		public: 'Public Files',
		shared: 'Shared with Me',
	} satisfies Record<Area, string>,
	modes: {
		private: 'Private: secure, needs authentication',
		public: 'Public: accessible to anyone',
		shared: 'Shared: folders of others that you are a member of',
	} satisfies Record<Area, string>,
} as const;
