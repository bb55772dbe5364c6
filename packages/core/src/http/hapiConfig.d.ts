/** How hapi checks settings and completes them, by the kind of settings. It has no types. */
declare module '@hapi/hapi/lib/config.js' {
	const config: { apply(kind: string, settings: object, ...place: string[]): object };
	export default config;
}
