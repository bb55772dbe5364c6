/**
 * The options of both of knex's clients. Values may be secrets, and errors are logged; knex would print to the console what it also
 * throws.
 */
export const commonSettings = {
	compileSqlOnError: false,
	log: { warn() {}, error() {}, deprecate() {}, debug() {} },
};
