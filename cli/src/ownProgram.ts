import { fileURLToPath } from 'node:url';

/** The file of the `stowage` command. Both src and dist lie beside `bin`. */
export const ownProgram = fileURLToPath(new URL('../bin/stowage.js', import.meta.url));
