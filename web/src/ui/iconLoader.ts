/**
 * Replaces Blueprint's loader of icons by name. The app imports each icon as a component, so that those it does not use are
 * not bundled.
 */
export const Icons = {
	getPaths: () => undefined,
	load: async (icons: string | string[]) => console.error('Import the icon as a component:', icons),
};
