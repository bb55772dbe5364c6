/**
 * Takes the place of Blueprint's loader of icons by name. Every icon here is imported as a component, so the names and
 * paths of all the others need not be part of the app.
 */
export const Icons = {
	getPaths: () => undefined,
	load: async (icons: string | string[]) => console.error('Import the icon as a component:', icons),
};
