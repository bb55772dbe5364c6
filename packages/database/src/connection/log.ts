/** knex prints to the console what it also throws. The server logs what is thrown, once. */
export const silentLog = { warn() {}, error() {}, deprecate() {}, debug() {} };
