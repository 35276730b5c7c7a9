/** What a probe needs to talk to daemons over their sockets, in one bundle that is loaded when it is wanted. */
export { getAll } from './http-get.ts';
export { askShims } from './shims.ts';
