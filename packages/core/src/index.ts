export { type Accounts, createAccounts } from './accounts/accounts.js';
export { checkConfig } from './config/check.js';
export { flagOf, settingNames, variableOf } from './config/leaves.js';
export { ConfigError, type ConfigSources, loadConfig } from './config/load.js';
export type { Config } from './config/schema.js';
export { withoutSecrets } from './config/secrets.js';
export { type App, type AppOptions, createApp } from './createApp.js';
export { createLog, type Log } from './log.js';
export { isStartupMistake } from './startupError.js';
